package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// start runs the operator until the test ends or stops it. It watches all namespaces: which ones it needs a WebApp says.
func (w *world) start() *process {
	w.t.Helper()
	p := &process{command: exec.Command(os.Args[0], "run", "--kubeconfig", w.config, "--channel.interval", "50ms"), done: make(chan struct{})}
	p.command.Env = append(os.Environ(), asOperator+"=1")
	p.command.Stderr = &p.log
	require.NoError(w.t, p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.done)
	}()
	w.t.Cleanup(func() {
		_ = p.command.Process.Kill() // it is gone already if it was stopped
		<-p.done
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", p.log.String())
		}
	})
	return p
}

// process is an operator that runs.
type process struct {
	command *exec.Cmd
	log     buffer
	done    chan struct{}
	err     error
}

// stop ends the operator in good order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
		require.NoError(t, p.err)
	case <-time.After(patience):
		t.Fatal("the operator doesn't stop")
	}
}

// says counts how often the operator has said something.
func (p *process) says(text string) int { return strings.Count(p.log.String(), text) }

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
