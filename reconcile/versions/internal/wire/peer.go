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

// ErrGone means that the connection has ended: the other side is gone, or has sent invalid data.
var ErrGone = errors.New("the other side is gone")

// Handler handles a call or a notice of the other side. The answer is encoded and sent; for a notice it is ignored.
// Each call runs in its own goroutine. Notices are handled one after the other and must not block: nothing is read
// meanwhile. A panic counts as an error.
type Handler func(ctx context.Context, method string, body Raw) (answer any, err error)

// Peer is one side of a connection. It is safe for concurrent use.
type Peer struct {
	in     io.Reader
	out    io.Writer
	outbox *outbox
	handle Handler

	mu sync.Mutex
	// calls are the calls of this side that wait for an answer, by number. serving has functions that cancel the calls
	// of the other side.
	calls   map[uint64]chan message
	serving map[uint64]context.CancelFunc
	last    uint64
	// gone is why the connection has ended, nil before that. done is closed when the connection ends.
	gone error
	done chan struct{}
}

// NewPeer returns one side of a connection. handle serves the calls of the other side. Nothing is read or written
// before Run.
func NewPeer(in io.Reader, out io.Writer, handle Handler) *Peer {
	return &Peer{
		in: bufio.NewReaderSize(in, 64<<10), out: out, outbox: newOutbox(), handle: handle,
		calls: map[uint64]chan message{}, serving: map[uint64]context.CancelFunc{}, done: make(chan struct{}),
	}
}

// Run reads the messages of the other side until the stream ends or is invalid. It then cancels the calls that are
// being served, and returns when they have ended and all earlier messages are written. The cancelled calls aren't
// answered. If the stream ends between two messages, the error is io.EOF. ctx is the parent context of the calls that
// are served; its end doesn't end Run. To end Run, close the streams.
func (p *Peer) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	var writing, serving sync.WaitGroup
	writing.Go(func() {
		if err := p.outbox.write(p.out); err != nil {
			p.outbox.close()
			p.end(err)
		}
	})
	err := p.read(ctx, &serving)
	p.end(err)
	end()
	serving.Wait()
	p.outbox.close()
	writing.Wait()
	return err
}

// Done returns a channel that is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.done }

// end ends the connection for all callers that wait.
func (p *Peer) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = fmt.Errorf("%w: %w", ErrGone, why)
		close(p.done)
	}
}

func (p *Peer) read(ctx context.Context, serving *sync.WaitGroup) error {
	for {
		m, err := readFrame(p.in)
		if err != nil {
			return err
		}
		switch m.kind {
		case call:
			if err := p.begin(ctx, m, serving); err != nil {
				return err
			}
		case answer:
			if waiting := p.forget(m.id); waiting != nil { // nil: the call was cancelled
				waiting <- m
			}
		case notice:
			p.hear(ctx, m)
		case cancel:
			p.mu.Lock()
			end := p.serving[m.id]
			p.mu.Unlock()
			if end != nil {
				end()
			}
		default:
			return fmt.Errorf("a message of the unknown kind %d", m.kind)
		}
	}
}

// Call calls the other side and decodes the answer into target, a pointer, or nil to ignore it. An error of the other
// side is returned as Problem.Err. If the connection has ended, the error is ErrGone.
func (p *Peer) Call(ctx context.Context, method string, body, target any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answered := make(chan message, 1)
	p.mu.Lock()
	if p.gone != nil {
		defer p.mu.Unlock()
		return fmt.Errorf("%s: %w", method, p.gone)
	}
	p.last++
	id := p.last
	p.calls[id] = answered
	p.mu.Unlock()
	frame, err := newFrame(call, id, method, nil, body)
	if err != nil {
		p.forget(id)
		return fmt.Errorf("%s: %w", method, err)
	}
	p.outbox.put(frame)
	select {
	case m := <-answered:
		return m.into(method, target)
	case <-ctx.Done():
		p.forget(id)
		if frame, err := newFrame(cancel, id, "", nil, nil); err == nil {
			p.outbox.put(frame)
		}
		return context.Cause(ctx)
	case <-p.done:
		p.forget(id)
		return fmt.Errorf("%s: %w", method, p.gone)
	}
}

// into decodes an answer.
func (m message) into(method string, target any) error {
	if m.problem != nil {
		return m.problem.Err()
	}
	if target == nil {
		return nil
	}
	if err := Decode(m.body, target); err != nil {
		return fmt.Errorf("%s: its answer: %w", method, err)
	}
	return nil
}

// forget removes a call that waits for an answer.
func (p *Peer) forget(id uint64) (waiting chan message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting = p.calls[id]
	delete(p.calls, id)
	return waiting
}

// Notify sends a notice. It doesn't wait until the notice is written.
func (p *Peer) Notify(method string, body any) error {
	frame, err := newFrame(notice, 0, method, nil, body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	p.outbox.put(frame)
	return nil
}

// Room waits while the other side has too many bytes still to read. It is for senders of many notices.
func (p *Peer) Room() { p.outbox.room() }

// servedLimit bounds the calls of the other side that are served at once; further calls are answered with an error.
const servedLimit = 10_000

// begin begins to serve a call.
func (p *Peer) begin(ctx context.Context, m message, serving *sync.WaitGroup) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serving[m.id] != nil {
		return fmt.Errorf("call %d: an open call has this number already", m.id)
	}
	if len(p.serving) >= servedLimit {
		p.reply(m.id, nil, fmt.Errorf("%s: %d calls are under way: wait until some are answered", m.method, servedLimit))
		return nil
	}
	ctx, end := context.WithCancel(ctx)
	p.serving[m.id] = end
	serving.Go(func() {
		defer end()
		p.serve(ctx, m)
	})
	return nil
}

// serve serves one call and answers it, however the handler ends.
func (p *Peer) serve(ctx context.Context, m message) {
	var value any
	var err error = &dag.GoexitError{}
	defer func() {
		if panicked := recover(); panicked != nil {
			value, err = nil, &dag.PanicError{Value: panicked, Stack: debug.Stack()}
		}
		p.mu.Lock()
		delete(p.serving, m.id)
		p.mu.Unlock()
		p.reply(m.id, value, err)
	}()
	value, err = p.handle(ctx, m.method, m.body)
}

// reply answers a call, unless the connection has ended: the calls of an ended connection were cancelled, so an error
// of the handler isn't the result of the call.
func (p *Peer) reply(id uint64, value any, err error) {
	select {
	case <-p.done:
		return
	default:
	}
	if err != nil {
		value = nil
	}
	frame, unsendable := newFrame(answer, id, "", NewProblem(err), value)
	if unsendable != nil {
		frame, unsendable = newFrame(answer, id, "", NewProblem(fmt.Errorf("its answer can't be sent: %w", unsendable)), nil)
	}
	if unsendable == nil {
		p.outbox.put(frame)
	}
}

// hear handles a notice.
func (p *Peer) hear(ctx context.Context, m message) {
	defer func() { _ = recover() }() // a notice has no answer
	_, _ = p.handle(ctx, m.method, m.body)
}
