# SPDX-License-Identifier: Apache-2.0
"""Python's processes: a pool, a queue and a lock with each way of starting one; or a segment of shared memory.

    processes.py fork|spawn|forkserver
    processes.py segment FILE      makes a segment, writes its name to FILE, and holds it until the end of the input
"""
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory


def square(number):
    return number * number


def work(queue, lock):
    with lock:
        queue.put("from the child")


def start(method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(square, range(4))) == [0, 1, 4, 9]
    queue, lock = context.Queue(), context.Lock()
    child = context.Process(target=work, args=(queue, lock))
    child.start()
    assert queue.get(timeout=10) == "from the child"
    child.join()
    assert child.exitcode == 0


def segment(path):
    memory = shared_memory.SharedMemory(create=True, size=4096)
    memory.buf[:5] = b"hello"
    again = shared_memory.SharedMemory(name=memory.name)
    assert bytes(again.buf[:5]) == b"hello"
    again.close()
    with open(path, "w", encoding="utf-8") as file:
        file.write(memory.name)
    sys.stdin.read()
    memory.close()
    memory.unlink()


if __name__ == "__main__":
    if sys.argv[1] == "segment":
        segment(sys.argv[2])
    else:
        start(sys.argv[1])
        print(f"{sys.argv[1]} works")
