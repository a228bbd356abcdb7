package main

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asOperator makes the test binary the operator: a test starts and stops it as a process of its own without building
// another program.
const asOperator = "MEMCACHED_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is an operator that runs.
type process struct {
	command *exec.Cmd
	log     buffer
	done    chan struct{}
	err     error
}

// start runs the operator on the world's namespace until the test ends or stops it.
func (w *world) start() *process {
	w.t.Helper()
	p := &process{command: exec.Command(os.Args[0], "run", "--namespace", w.Namespace, "--kubeconfig", w.config), done: make(chan struct{})}
	p.command.Env = append(os.Environ(), asOperator+"=1")
	p.command.Stderr = &p.log
	require.NoError(w.t, p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.done)
	}()
	w.t.Cleanup(func() {
		_ = p.command.Process.Kill() // it is gone already if it has ended by itself
		<-p.done
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", p.log.String())
		}
	})
	return p
}

// stop ends the operator in good order and answers how it ended.
func (p *process) stop(t *testing.T) error {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		t.Fatal("the operator doesn't stop")
		return nil
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

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
