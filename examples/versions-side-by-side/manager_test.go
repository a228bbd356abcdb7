package main

import (
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
)

// manager is an operator that runs, with all releases.
type manager struct {
	*program.Process
	directory string
}

// run starts the newest release as the manager of all, until the test ends.
func (w *world) run(directory string, flags ...string) *manager {
	w.t.Helper()
	return &manager{program.Start(w.t, exec.Command(filepath.Join(versions(w.t), "1.1.0", "site-operator"), append([]string{
		"run", "--kubeconfig", w.Kubeconfig(w.t, w.operator), "--namespace", w.Namespace, "--leader-election.lock", "none",
		"--versions.directory", directory, "--metrics.address", "127.0.0.1:0",
	}, flags...)...)), directory}
}

var metricsAt = regexp.MustCompile(`setting=metrics.address address=(\S+)`)

// metrics is the page of metrics.
func (m *manager) metrics(t *testing.T) string {
	t.Helper()
	found := metricsAt.FindStringSubmatch(m.Output())
	require.NotNil(t, found, "the log says where metrics are")
	answer, err := http.Get("http://" + found[1] + "/metrics")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	http.DefaultClient.CloseIdleConnections()
	return string(text)
}
