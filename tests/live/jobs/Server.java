// SPDX-License-Identifier: Apache-2.0
import java.io.*;
import java.net.*;
import java.util.concurrent.*;

/** A server on loopback, four clients at once, each with a thread of its own. */
public class Server {
	public static void main(String[] words) throws Exception {
		try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
			ExecutorService pool = Executors.newFixedThreadPool(8);
			for (int i = 0; i < 4; i++)
				pool.submit(() -> answer(server));
			Future<?>[] asked = new Future<?>[4];
			for (int i = 0; i < 4; i++)
				asked[i] = pool.submit(() -> ask(server.getLocalPort()));
			for (Future<?> one : asked)
				if (!"hello".equals(one.get(20, TimeUnit.SECONDS)))
					System.exit(1);
			pool.shutdown();
			System.out.println("four answers");
		}
	}

	static Void answer(ServerSocket server) throws IOException {
		try (Socket client = server.accept()) {
			client.getOutputStream().write("hello\n".getBytes());
		}
		return null;
	}

	static String ask(int port) throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			return new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
		}
	}
}
