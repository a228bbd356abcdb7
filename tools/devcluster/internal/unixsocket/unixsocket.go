package unixsocket

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// maxPath is the longest socket path that every supported system takes (macOS: 104 with the final
// zero byte, Linux: 108).
const maxPath = 103

// Listener is a listener whose socket only the owner can connect to. Close removes the socket.
type Listener struct {
	net.Listener
	path   string
	remove func() error
}

// Listen listens on the socket path. It replaces an existing socket, so the caller must know that nobody serves that
// one.
func Listen(path string) (*Listener, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	listener, err := net.Listen("unix", short)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	// The short path is valid only while the directory is open: Close removes the socket by its real path.
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
	l := &Listener{Listener: listener, path: path}
	l.remove = sync.OnceValue(func() error { return os.Remove(path) })
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return l, nil
}

// Close stops listening and removes the socket.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	if removeErr := l.remove(); err == nil && !os.IsNotExist(removeErr) {
		err = removeErr
	}
	return err
}

// Dial connects to the socket path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return conn, nil
}

// shorten returns a path to the same socket that is short enough for the kernel; it is valid until release is called.
func shorten(path string) (short string, release func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	return throughDirectory(filepath.Dir(path), filepath.Base(path))
}
