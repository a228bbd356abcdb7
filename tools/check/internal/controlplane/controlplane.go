package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/operkit/operkit/tools/check/internal/process"
)

const (
	// startTime is how long a control plane may take until it is ready, its program built.
	startTime = 3 * time.Minute
	// stopTime is how long it may take to end by itself once its pipe has ended.
	stopTime = 20 * time.Second
	// poll is how often its state is looked at while it starts.
	poll = 50 * time.Millisecond
)

// ControlPlane is one that runs.
type ControlPlane struct {
	// Dir is the folder that tests are told of through [FolderVariable].
	Dir string

	folder   folder
	cmd      *exec.Cmd
	stdin    io.Closer
	tail     *tail
	ended    chan struct{} // closed once the process has ended, then err is set
	err      error
	stop     sync.Once
	stopTime time.Duration
}

func start(cmd *exec.Cmd, dir folder, stopTime time.Duration) (*ControlPlane, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	p := &ControlPlane{
		Dir: dir.path, folder: dir, cmd: cmd, stdin: stdin, stopTime: stopTime,
		tail: &tail{limit: 16 << 10}, ended: make(chan struct{}),
	}
	cmd.Stdout, cmd.Stderr = p.tail, p.tail
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("control plane: %s: %w", process.Line(cmd), err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// waitReady waits until the state file says so, at most for the given time.
func (p *ControlPlane) waitReady(ctx context.Context, atMost time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, fmt.Errorf("it did not become ready in %s", atMost))
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !p.ready() {
		select {
		case <-tick.C:
		case <-p.ended:
			return p.failure("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", p.failure("it was stopped before it was ready"), context.Cause(ctx))
		}
	}
	return nil
}

// ready reads the state file. One that is not there yet or half written is simply not ready.
func (p *ControlPlane) ready() bool {
	text, err := os.ReadFile(filepath.Join(p.Dir, "state.json"))
	var state struct {
		Ready bool `json:"ready"`
	}
	return err == nil && json.Unmarshal(text, &state) == nil && state.Ready
}

// failure is an error that says what happened and shows what the process printed last.
func (p *ControlPlane) failure(what string) error {
	return fmt.Errorf("control plane: %s: %s; its output:\n%s", process.Line(p.cmd), what, p.tail)
}

// Alive gives nil while the process runs, and an error with its output after it ended.
func (p *ControlPlane) Alive() error {
	select {
	case <-p.ended:
		return p.failure(fmt.Sprintf("it ended during the run (%v)", p.err))
	default:
		return nil
	}
}

// Stop ends the control plane, waits for its end and removes its folder. Further calls do nothing.
func (p *ControlPlane) Stop() error {
	var err error
	p.stop.Do(func() {
		_ = p.stdin.Close() // this ends it; the pipe is gone already when it has ended by itself
		select {
		case <-p.ended:
		case <-time.After(p.stopTime):
			err = p.failure("it did not end with its pipe and was killed")
			process.Kill(p.cmd)
			<-p.ended
		}
		err = errors.Join(err, p.folder.remove())
	})
	return err
}

// tail keeps the last bytes written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	text  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - t.limit; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
