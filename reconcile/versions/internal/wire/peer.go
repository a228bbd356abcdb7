package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/operkit/operkit/dag"
)

// ErrGone says that the other side has ended, or that what it says can't be understood any more.
var ErrGone = errors.New("the other side is gone")

// Handler answers what the other side calls. The answer is encoded; for a notice it isn't looked at. It is called from a goroutine of
// its own for each call, and one after the other for notices, which must not wait.
type Handler func(ctx context.Context, method string, body Raw) (answer any, err error)

// Peer is one side of a connection. It is safe for concurrent use.
type Peer struct {
	frames frames
	handle Handler

	mu sync.Mutex
	// calls are those of this side that wait for an answer, by number; serving ends those of the other side.
	calls   map[uint64]chan message
	serving map[uint64]context.CancelFunc
	last    uint64
	// gone is why nothing is read any more.
	gone error
	done chan struct{}
}

// NewPeer makes one side of a connection, whose calls handle answers. Nothing is read before Run.
func NewPeer(in io.Reader, out io.Writer, handle Handler) *Peer {
	return &Peer{
		frames: frames{in: bufio.NewReaderSize(in, 64<<10), out: out}, handle: handle,
		calls: map[uint64]chan message{}, serving: map[uint64]context.CancelFunc{}, done: make(chan struct{}),
	}
}

// Run reads what the other side says until that ends, or can't be understood, and returns once all calls of it have been answered. The end
// of the stream between two messages is io.EOF. To end it before, close the stream.
func (p *Peer) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	var serving sync.WaitGroup
	err := p.read(ctx, &serving)
	p.mu.Lock()
	p.gone = fmt.Errorf("%w: %w", ErrGone, err)
	p.mu.Unlock()
	close(p.done)
	end()
	serving.Wait()
	return err
}

// Done is closed when the other side is gone.
func (p *Peer) Done() <-chan struct{} { return p.done }

func (p *Peer) read(ctx context.Context, serving *sync.WaitGroup) error {
	for {
		m, err := p.frames.read()
		if err != nil {
			return err
		}
		switch m.Kind {
		case call:
			callCtx, end := context.WithCancel(ctx)
			p.mu.Lock()
			p.serving[m.ID] = end
			p.mu.Unlock()
			serving.Go(func() { p.serve(callCtx, m) })
		case answer:
			p.mu.Lock()
			waiting := p.calls[m.ID]
			delete(p.calls, m.ID)
			p.mu.Unlock()
			if waiting != nil { // else nobody wants to know any more
				waiting <- m
			}
		case notice:
			_, _ = p.guarded(ctx, m)
		case cancel:
			p.mu.Lock()
			end := p.serving[m.ID]
			p.mu.Unlock()
			if end != nil {
				end()
			}
		default:
			return fmt.Errorf("a message of the unknown kind %d", m.Kind)
		}
	}
}

// serve answers one call.
func (p *Peer) serve(ctx context.Context, m message) {
	value, err := p.guarded(ctx, m)
	reply := message{Kind: answer, ID: m.ID}
	if err == nil && value != nil {
		reply.Body, err = Encode(value)
	}
	reply.Problem = NewProblem(err)
	p.mu.Lock()
	p.serving[m.ID]()
	delete(p.serving, m.ID)
	p.mu.Unlock()
	if err := p.frames.write(reply); err != nil && reply.Problem == nil {
		// An answer that can't be written is too long, or nobody reads any more; for the latter this is lost, too.
		_ = p.frames.write(message{Kind: answer, ID: m.ID, Problem: NewProblem(err)})
	}
}

// guarded calls the handler; its panic is an error.
func (p *Peer) guarded(ctx context.Context, m message) (value any, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			value, err = nil, &dag.PanicError{Value: panicked, Stack: debug.Stack()}
		}
	}()
	return p.handle(ctx, m.Method, m.Body)
}

// Call asks the other side and decodes what it answers into target, a pointer, or nil for no answer. An error of the other side is one
// that Problem makes; ErrGone says that there is none any more.
func (p *Peer) Call(ctx context.Context, method string, body, target any) error {
	raw, err := Encode(body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	id, answered, err := p.begin()
	if err != nil {
		return err
	}
	if err := p.frames.write(message{Kind: call, ID: id, Method: method, Body: raw}); err != nil {
		p.forget(id)
		return fmt.Errorf("%s: %w: %w", method, ErrGone, err)
	}
	select {
	case m := <-answered:
		if m.Problem != nil {
			return m.Problem.Err()
		}
		if target == nil {
			return nil
		}
		if err := Decode(m.Body, target); err != nil {
			return fmt.Errorf("%s: its answer: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		p.forget(id)
		_ = p.frames.write(message{Kind: cancel, ID: id}) // if it can't be told, nobody is there
		return context.Cause(ctx)
	case <-p.done:
		p.forget(id)
		return fmt.Errorf("%s: %w", method, p.gone)
	}
}

// Notify tells the other side something that nobody answers.
func (p *Peer) Notify(method string, body any) error {
	raw, err := Encode(body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return p.frames.write(message{Kind: notice, Method: method, Body: raw})
}

func (p *Peer) begin() (id uint64, answered chan message, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		return 0, nil, p.gone
	}
	p.last++
	answered = make(chan message, 1)
	p.calls[p.last] = answered
	return p.last, answered, nil
}

func (p *Peer) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, id)
}
