// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestSum(t *testing.T) {
	if sum := Sum(10); sum != 55 {
		t.Fatalf("the sum is %d", sum)
	}
}

func TestChildAndTemp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := exec.Command("sh", "-c", "echo text >"+name).Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
}
