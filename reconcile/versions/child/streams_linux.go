package child

import (
	"os"
	"syscall"
)

// standardStreams takes the standard streams for the manager. What anybody prints meanwhile, also by a file that was
// open before, goes to the standard error.
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

// again is one more file for a stream, for which nobody waits in the system: who waits for it in this process is woken
// when it is closed, and others go on at once, which they don't while somebody is in a system call that lasts.
func again(fd int, name string) (*os.File, error) {
	more, err := syscall.Dup(fd)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(more)
	_ = syscall.SetNonblock(more, true) // what can't be is read and written as it is
	return os.NewFile(uintptr(more), name), nil
}
