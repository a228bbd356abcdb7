//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// become replaces this process by the program. It returns only with an error.
func become(binary string, args []string) error {
	if err := syscall.Exec(binary, append([]string{binary}, args...), os.Environ()); err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	return nil
}
