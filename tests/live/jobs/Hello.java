// SPDX-License-Identifier: Apache-2.0
import java.util.stream.IntStream;

public class Hello {
	public static void main(String[] arguments) {
		System.out.println("the sum is " + IntStream.rangeClosed(1, 10).parallel().sum());
	}
}
