package operator

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator/config"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLeaderElectionIsSettled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pod, nowhere := filepath.Join(dir, "namespace"), filepath.Join(dir, "nowhere")
	require.NoError(t, os.WriteFile(pod, []byte("shop\n"), 0o600))
	for _, row := range []struct {
		reason string
		file   string
		given  election
		want   election
		err    string
	}{
		{"watch 32: in a Pod a Lease of the operator's name, in the Pod's namespace", pod, election{Lock: config.AutoLock}, election{Lock: config.LeaseLock, Name: "op", Namespace: "shop"}, ""},
		{"watch 36: elsewhere none", nowhere, election{Lock: config.AutoLock}, election{Lock: config.NoLock, Name: "op"}, ""},
		{"watch 32: what is given counts", pod, election{Lock: config.ForLifeLock, Name: "x", Namespace: "y"}, election{Lock: config.ForLifeLock, Name: "x", Namespace: "y"}, ""},
		{"a namespace elsewhere", nowhere, election{Lock: config.LeaseLock, Namespace: "y"}, election{Lock: config.LeaseLock, Name: "op", Namespace: "y"}, ""},
		{"watch 32: no namespace is a mistake", nowhere, election{Lock: config.LeaseLock}, election{}, "leader-election.lock lease needs leader-election.namespace outside of a Pod"},
		{"watch 36: none in a Pod", pod, election{Lock: config.NoLock}, election{Lock: config.NoLock, Name: "op", Namespace: "shop"}, ""},
		{"watch 35: a lock per object needs no place", nowhere, election{Lock: config.PerObjectLock}, election{Lock: config.PerObjectLock, Name: "op"}, ""},
		{"watch 35: nor is one looked for", dir, election{Lock: config.PerObjectLock}, election{Lock: config.PerObjectLock, Name: "op"}, ""},
		{"whether it is a Pod can't be told", dir, election{Lock: config.AutoLock, Namespace: "y"}, election{}, "is a directory: set leader-election.lock and leader-election.namespace"},
		{"and doesn't matter", dir, election{Lock: config.LeaseLock, Namespace: "y"}, election{Lock: config.LeaseLock, Name: "op", Namespace: "y"}, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := row.given.complete("op", row.file, slog.New(slog.DiscardHandler))
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}
