package port

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// sharing listens the way Kubernetes' servers do with --permit-port-sharing.
func sharing(t *testing.T, address string) net.Listener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var optionErr error
		err := c.Control(func(fd uintptr) {
			optionErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return optionErr
	}}
	listener, err := config.Listen(t.Context(), "tcp4", address)
	require.NoError(t, err)
	return listener
}

func dial(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp4", address)
	if err == nil {
		err = conn.Close()
	}
	return err
}

func TestReservationOutlivesItsServer(t *testing.T) {
	t.Parallel()
	r, err := Reserve(t.Context(), 0)
	require.NoError(t, err)
	defer r.Release()
	assert.Equal(t, fmt.Sprintf("127.0.0.1:%d", r.Number()), r.Address())
	for range 3 {
		require.ErrorIs(t, dial(t.Context(), r.Address()), syscall.ECONNREFUSED, "nobody listens")
		server := sharing(t, r.Address())
		require.NoError(t, dial(t.Context(), r.Address()))
		require.NoError(t, server.Close())
	}
}

func TestReserveRefusesTakenPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	reserved, err := Reserve(t.Context(), 0)
	require.NoError(t, err)
	for _, row := range []struct {
		reason string
		number int
	}{
		{"somebody listens", listener.Addr().(*net.TCPAddr).Port},
		{"somebody has reserved it", reserved.Number()},
	} {
		_, err := Reserve(t.Context(), row.number)
		require.ErrorIs(t, err, syscall.EADDRINUSE, row.reason)
		assert.ErrorContains(t, err, fmt.Sprintf("port %d on 127.0.0.1 is not free", row.number))
	}
	number := reserved.Number()
	reserved.Release()
	reserved.Release()
	again, err := Reserve(t.Context(), number)
	require.NoError(t, err, "a released port is free")
	assert.Equal(t, number, again.Number())
	again.Release()
}

func TestReservedPortsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 200 {
		r, err := Reserve(t.Context(), 0)
		require.NoError(t, err)
		defer r.Release()
		require.False(t, seen[r.Number()], "port %d was given twice", r.Number())
		seen[r.Number()] = true
	}
}
