package operator

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

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
		given  LeaderElection
		want   LeaderElection
		err    string
	}{
		{"watch 32: in a Pod a Lease of the operator's name, in the Pod's namespace", pod, LeaderElection{Lock: AutoLock}, LeaderElection{Lock: LeaseLock, Name: "op", Namespace: "shop"}, ""},
		{"watch 36: elsewhere none", nowhere, LeaderElection{Lock: AutoLock}, LeaderElection{Lock: NoLock, Name: "op"}, ""},
		{"watch 32: what is given counts", pod, LeaderElection{Lock: ForLifeLock, Name: "x", Namespace: "y"}, LeaderElection{Lock: ForLifeLock, Name: "x", Namespace: "y"}, ""},
		{"a namespace elsewhere", nowhere, LeaderElection{Lock: LeaseLock, Namespace: "y"}, LeaderElection{Lock: LeaseLock, Name: "op", Namespace: "y"}, ""},
		{"watch 32: no namespace is a mistake", nowhere, LeaderElection{Lock: LeaseLock}, LeaderElection{}, "--leader-election lease needs --leader-election-namespace outside of a Pod"},
		{"watch 36: none in a Pod", pod, LeaderElection{Lock: NoLock}, LeaderElection{Lock: NoLock, Name: "op", Namespace: "shop"}, ""},
		{"watch 35: a lock per object needs no place", nowhere, LeaderElection{Lock: PerObjectLock}, LeaderElection{Lock: PerObjectLock, Name: "op"}, ""},
		{"watch 35: nor is one looked for", dir, LeaderElection{Lock: PerObjectLock}, LeaderElection{Lock: PerObjectLock, Name: "op"}, ""},
		{"whether it is a Pod can't be told", dir, LeaderElection{Lock: AutoLock, Namespace: "y"}, LeaderElection{}, "is a directory: give --leader-election and --leader-election-namespace"},
		{"and doesn't matter", dir, LeaderElection{Lock: LeaseLock, Namespace: "y"}, LeaderElection{Lock: LeaseLock, Name: "op", Namespace: "y"}, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := row.given.settle("op", row.file, slog.New(slog.DiscardHandler))
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}
