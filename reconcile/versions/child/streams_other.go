//go:build !linux

package child

import "os"

// standardStreams reserves the standard streams for the manager. Until restore is called, other output to the standard
// output goes to the standard error.
func (s *server) standardStreams() (restore func(), err error) {
	before := os.Stdout
	s.in, s.out = os.Stdin, before
	os.Stdout = os.Stderr
	return func() { os.Stdout = before }, nil
}
