//go:build !unix

package playbook

import "os"

// own makes a folder. Whether others use it isn't known.
func own(folder string) (lock *os.File, err error) { return nil, os.MkdirAll(folder, 0o700) }
