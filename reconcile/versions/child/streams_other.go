//go:build !linux

package child

import "os"

// standardStreams takes the standard streams for the manager. Other output goes to the standard error meanwhile.
func (s *server) standardStreams() (restore func(), err error) {
	before := os.Stdout
	s.in, s.out = os.Stdin, before
	os.Stdout = os.Stderr
	return func() { os.Stdout = before }, nil
}
