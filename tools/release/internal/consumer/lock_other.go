//go:build !unix

package consumer

import "os"

// takeLock gives the file alone: two processes at a time have to be avoided by hand.
func takeLock(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}
