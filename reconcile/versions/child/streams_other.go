//go:build !linux

package child

import "os"

// standardStreams takes the standard streams for the manager. What is printed meanwhile goes to the standard error.
func (s *server) standardStreams() (restore func(), err error) {
	before := os.Stdout
	s.in, s.out = os.Stdin, before
	os.Stdout = os.Stderr
	return func() { os.Stdout = before }, nil
}
