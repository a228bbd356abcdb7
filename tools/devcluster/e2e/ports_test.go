package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// loopback is 127.0.0.1 in the kernel's table of sockets, on a little endian machine.
const loopback = "0100007F"

// requireLoopback checks every TCP socket that a process of the cluster listens on.
func requireLoopback(t *testing.T, s state.State) {
	t.Helper()
	for name, pid := range pids(s) {
		addresses := listening(t, pid)
		for _, address := range addresses {
			assert.True(t, strings.HasPrefix(address, loopback+":"), "%s listens on %s", name, address)
		}
		switch name {
		case "apiserver":
			assert.NotEmpty(t, addresses, "the API server has a port, or this test sees none")
		case "etcd", "kwok", "supervisor":
			assert.Empty(t, addresses, name)
		}
	}
}

// listening returns the addresses that a process listens on, as /proc/net/tcp writes them.
func listening(t *testing.T, pid int) []string {
	t.Helper()
	descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	require.NotEmpty(t, descriptors)
	sockets := map[string]bool{}
	for _, descriptor := range descriptors {
		target, err := os.Readlink(descriptor)
		if err == nil && strings.HasPrefix(target, "socket:[") {
			sockets[strings.Trim(target, "socket:[]")] = true
		}
	}
	var addresses []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if os.IsNotExist(err) {
			continue // a machine without IPv6
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			const localAddress, connectionState, inode, listen = 1, 3, 9, "0A"
			fields := strings.Fields(line)
			if len(fields) > inode && fields[connectionState] == listen && sockets[fields[inode]] {
				addresses = append(addresses, fields[localAddress])
			}
		}
	}
	return addresses
}
