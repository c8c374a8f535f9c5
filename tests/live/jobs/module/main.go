// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
)

// Sum adds the numbers from 1 to n, each in a goroutine of its own.
func Sum(n int) int {
	var all sync.WaitGroup
	var lock sync.Mutex
	sum := 0
	for i := 1; i <= n; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			lock.Lock()
			defer lock.Unlock()
			sum += i
		}(i)
	}
	all.Wait()
	return sum
}

func main() {
	fmt.Println("the sum is", Sum(10))
}
