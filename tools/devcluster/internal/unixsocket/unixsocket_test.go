package unixsocket

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListenAndDial(t *testing.T) {
	t.Parallel()
	short, err := os.MkdirTemp("", "s") //nolint:usetesting // t.TempDir's path may be too long
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 60))
	require.NoError(t, os.MkdirAll(long, 0o700))
	for _, row := range []struct{ reason, dir string }{
		{"a path that the kernel takes", short},
		{"a path that is too long for the kernel", long},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(row.dir, "test.sock")
			require.NoError(t, os.WriteFile(path, nil, 0o600), "a leftover in its place is replaced")
			listener, err := Listen(path)
			require.NoError(t, err)
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.ModeSocket|0o600, info.Mode())

			go func() {
				conn, err := listener.Accept()
				if err == nil {
					_, _ = conn.Write([]byte("hello"))
					_ = conn.Close()
				}
			}()
			conn, err := Dial(t.Context(), path)
			require.NoError(t, err)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			assert.Equal(t, "hello", string(answer))
			require.NoError(t, conn.Close())

			require.NoError(t, listener.Close())
			assert.NoFileExists(t, path)
			_, err = Dial(t.Context(), path)
			assert.ErrorContains(t, err, path)
		})
	}
}

func TestListenNamesTheSocket(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, path string }{
		{"short", "/nonexistent/test.sock"},
		{"long", "/nonexistent/" + strings.Repeat("x/", 100) + "test.sock"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := Listen(row.path)
			require.ErrorIs(t, err, os.ErrNotExist)
			assert.ErrorContains(t, err, filepath.Dir(row.path))
		})
	}
}
