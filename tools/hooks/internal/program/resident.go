package program

import (
	"bufio"
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
)

const (
	// shortestRest and longestRest bound the time until a process is started again that has failed: the first time, and
	// in the end.
	shortestRest = 100 * time.Millisecond
	longestRest  = 30 * time.Second
	// idle is the time without a call after which a process ends, or a while later. The next call starts another one.
	idle = 10 * time.Minute
)

// resident is a process that stays, or the place of one. It is for one goroutine at a time.
type resident struct {
	config *Config
	// process is nil if none runs, and reader reads its output.
	process *running
	reader  *bufio.Reader
	// failures counts the calls in a row that have failed by the process. Before next it isn't started.
	failures int
	next     time.Time
	last     error
	// called is the time of the last call.
	called time.Time
}

// call asks the process, which it starts if none runs. A process that hasn't answered as it should is ended: what it
// says later would be taken for the answer to another call.
func (r *resident) call(ctx context.Context, body []byte) ([]byte, error) {
	switch {
	case r.process == nil:
	case r.isTalking():
		r.end()
		_ = r.failed(errTalks)
	case r.hasEnded():
		r.end()
	default:
		r.failures = 0 // its last response was a line, and it has written nothing since
	}
	if r.process == nil {
		if rest := time.Until(r.next); rest > 0 {
			return nil, &RestError{r.config.name(), rest, r.last}
		}
		p, err := r.config.start()
		if err != nil {
			return nil, r.failed(err)
		}
		r.process, r.reader = p, bufio.NewReader(p.Stdout)
	}
	line, err := r.ask(ctx, body)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || r.hasEnded() {
			r.process.End()
			err = r.process.exited()
		}
		err = r.process.failed(ctx, err)
		r.end()
		return nil, r.failed(err)
	}
	return line, nil
}

// errTalks is the error of a process that has written something that it wasn't asked.
var errTalks = errors.New("it has written more than a line for a request: write each response in one line, and nothing else")

// ask sends a line and reads a line.
func (r *resident) ask(ctx context.Context, body []byte) ([]byte, error) {
	_ = r.process.Stdin.SetWriteDeadline(time.Time{}) // the end of an earlier call may have set one
	_ = r.process.Stdout.SetReadDeadline(time.Time{})
	release := r.process.Bound(ctx)
	defer release()
	if _, err := r.process.Stdin.Write(append(body[:len(body):len(body)], '\n')); err != nil {
		return nil, err
	}
	var line []byte
	for {
		part, err := r.reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case int64(len(line)) > r.config.MaxResponse+1:
			return nil, &limits.SizeError{Hook: r.config.name(), Limit: r.config.MaxResponse}
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		default:
			return line[:len(line)-1], nil
		}
	}
}

// failed notes that the process has failed, and returns the error.
func (r *resident) failed(err error) error {
	rest := min(shortestRest<<min(r.failures, 20), longestRest)
	r.failures, r.next, r.last = r.failures+1, time.Now().Add(rest), err
	return err
}

func (r *resident) hasEnded() bool {
	select {
	case <-r.process.Ended():
		return true
	default:
		return false
	}
}

// isTalking reports whether the process has said something that it wasn't asked.
func (r *resident) isTalking() bool { return r.reader.Buffered() > 0 || r.process.Waiting() > 0 }

// end ends the process, if one runs.
func (r *resident) end() {
	if r.process != nil {
		r.process.End()
		r.process, r.reader = nil, nil
	}
}
