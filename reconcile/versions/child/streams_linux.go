package child

import (
	"os"
	"syscall"
)

// standardStreams takes the standard streams for the manager. What anybody prints meanwhile, also by a file that was open before, goes to the
// standard error.
func (s *server) standardStreams() (restore func(), err error) {
	out, err := syscall.Dup(syscall.Stdout)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(out)
	if err := syscall.Dup3(syscall.Stderr, syscall.Stdout, 0); err != nil {
		_ = syscall.Close(out)
		return nil, err
	}
	in, err := syscall.Dup(syscall.Stdin)
	if err != nil {
		_ = syscall.Dup3(out, syscall.Stdout, 0)
		_ = syscall.Close(out)
		return nil, err
	}
	syscall.CloseOnExec(in)
	_ = syscall.SetNonblock(in, true) // so that who reads is woken when it is closed; a terminal or a file doesn't matter
	stdin, stdout := os.NewFile(uintptr(in), "stdin"), os.NewFile(uintptr(out), "stdout")
	s.in, s.out = stdin, stdout
	return func() {
		_ = syscall.Dup3(out, syscall.Stdout, 0)
		_ = stdout.Close()
		_ = stdin.Close()
		_ = syscall.SetNonblock(syscall.Stdin, false)
	}, nil
}
