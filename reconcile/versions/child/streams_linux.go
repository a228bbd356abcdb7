package child

import (
	"os"
	"syscall"
)

// standardStreams reserves the standard streams for the manager. Until restore is called, other output to the standard
// output goes to the standard error, even through files that were opened before.
func (s *server) standardStreams() (restore func(), err error) {
	in, err := again(syscall.Stdin, "stdin")
	if err != nil {
		return nil, err
	}
	out, err := again(syscall.Stdout, "stdout")
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	if err := syscall.Dup3(syscall.Stderr, syscall.Stdout, 0); err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	s.in, s.out = in, out
	return func() {
		if connection, err := out.SyscallConn(); err == nil {
			_ = connection.Control(func(fd uintptr) { _ = syscall.Dup3(int(fd), syscall.Stdout, 0) })
		}
		_, _ = in.Close(), out.Close()
		_, _ = syscall.SetNonblock(syscall.Stdin, false), syscall.SetNonblock(syscall.Stdout, false)
	}, nil
}

// again duplicates a stream as a non-blocking file, so that closing it ends waiting reads and writes. Closing a
// blocking file doesn't end them.
func again(fd int, name string) (*os.File, error) {
	more, err := syscall.Dup(fd)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(more)
	_ = syscall.SetNonblock(more, true) // an error leaves the stream blocking
	return os.NewFile(uintptr(more), name), nil
}
