package main

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manager is an operator that runs, with all releases.
type manager struct {
	command   *exec.Cmd
	directory string
	log       buffer
	done      chan struct{}
	err       error
}

// run starts the newest release as the manager of all, until the test ends.
func (w *world) run(directory string, flags ...string) *manager {
	w.t.Helper()
	m := &manager{directory: directory, done: make(chan struct{})}
	m.command = exec.Command(filepath.Join(versions(w.t), "1.1.0", "site-operator"), append([]string{
		"run", "--kubeconfig", w.config, "--namespace", w.Namespace, "--leader-election.lock", "none",
		"--versions.directory", directory, "--metrics.address", "127.0.0.1:0",
	}, flags...)...)
	m.command.Stderr = &m.log
	require.NoError(w.t, m.command.Start())
	go func() {
		m.err = m.command.Wait()
		close(m.done)
	}()
	w.t.Cleanup(func() {
		_ = m.command.Process.Kill() // it is gone already if it was stopped
		<-m.done
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", m.log.String())
		}
	})
	return m
}

// stop ends the manager in good order.
func (m *manager) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, m.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-m.done:
		require.NoError(t, m.err)
	case <-time.After(patience):
		t.Fatal("the operator doesn't stop")
	}
}

var metricsAt = regexp.MustCompile(`what=metrics.address address=(\S+)`)

// metrics is the page of metrics.
func (m *manager) metrics(t *testing.T) string {
	t.Helper()
	found := metricsAt.FindStringSubmatch(m.log.String())
	require.NotNil(t, found, "the log says where metrics are")
	answer, err := http.Get("http://" + found[1] + "/metrics")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	http.DefaultClient.CloseIdleConnections()
	return string(text)
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
