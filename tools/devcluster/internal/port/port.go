//go:build unix

package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reservation holds a port of 127.0.0.1 until Release. Nothing listens on it: a connection to it is
// refused until a server listens.
type Reservation struct {
	fd     int
	number int
}

// Reserve reserves the port of that number, or any free port for 0. It returns an error if the port is in use or
// reserved already.
func Reserve(ctx context.Context, number int) (*Reservation, error) {
	if number != 0 {
		if err := probe(ctx, number); err != nil {
			return nil, err
		}
	}
	fd, err := newSocket()
	if err != nil {
		return nil, fmt.Errorf("port %d: %w", number, err)
	}
	r := &Reservation{fd: fd, number: number}
	if err := r.bind(); err != nil {
		r.Release()
		return nil, fmt.Errorf("port %d on 127.0.0.1 cannot be reserved: %w", number, err)
	}
	return r, nil
}

// newSocket returns a socket that no child process inherits.
func newSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

// Number returns the port's number.
func (r *Reservation) Number() int { return r.number }

// Address returns host and port, as a client dials it.
func (r *Reservation) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.number)) }

// Release releases the port. It is safe to call more than once.
func (r *Reservation) Release() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// bind binds without listening. The kernel doesn't give a port bound this way to a process that asks for any free port.
// Only a socket of the same user that also sets SO_REUSEPORT can share it.
func (r *Reservation) bind() error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return err
	}
	if err := unix.Bind(r.fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: r.number}); err != nil {
		return err
	}
	bound, err := unix.Getsockname(r.fd)
	if err != nil {
		return err
	}
	address, ok := bound.(*unix.SockaddrInet4)
	if !ok {
		return errors.New("the socket has no IPv4 address")
	}
	r.number = address.Port
	return nil
}

// probe returns an error if the port is in use. Binding with SO_REUSEPORT alone would share the port of another
// reservation.
func probe(ctx context.Context, number int) error {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", address)
	if err != nil {
		return fmt.Errorf("port %d on 127.0.0.1 is not free: %w", number, err)
	}
	return listener.Close()
}
