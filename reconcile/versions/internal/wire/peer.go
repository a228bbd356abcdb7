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
// its own for each call, and one after the other for notices, which must not wait: nothing is read meanwhile. A panic is an error.
type Handler func(ctx context.Context, method string, body Raw) (answer any, err error)

// Peer is one side of a connection. It is safe for concurrent use.
type Peer struct {
	in     io.Reader
	out    io.Writer
	outbox *outbox
	handle Handler

	mu sync.Mutex
	// calls are those of this side that wait for an answer, by number; serving ends those of the other side.
	calls   map[uint64]chan message
	serving map[uint64]context.CancelFunc
	last    uint64
	// gone is why nothing can be said or heard any more; then done is closed.
	gone error
	done chan struct{}
}

// NewPeer makes one side of a connection, whose calls handle answers. Nothing is read or written before Run.
func NewPeer(in io.Reader, out io.Writer, handle Handler) *Peer {
	return &Peer{
		in: bufio.NewReaderSize(in, 64<<10), out: out, outbox: newOutbox(), handle: handle,
		calls: map[uint64]chan message{}, serving: map[uint64]context.CancelFunc{}, done: make(chan struct{}),
	}
}

// Run reads what the other side says until that ends, or can't be understood. What is served then is told to end and not answered any more;
// Run returns once it has ended, and all that was said before is written. The end of the stream between two messages is io.EOF. ctx is that of
// what is served. To end it before, close the streams.
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

// Done is closed when the other side is gone.
func (p *Peer) Done() <-chan struct{} { return p.done }

// end has all who wait for the other side know that it is gone.
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
			if waiting := p.forget(m.id); waiting != nil { // else nobody wants to know any more
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

// Call asks the other side and decodes what it answers into target, a pointer, or nil for no answer. An error of the other side is one
// that Problem makes; ErrGone says that there is none any more.
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

// forget takes away whoever waits for an answer.
func (p *Peer) forget(id uint64) (waiting chan message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting = p.calls[id]
	delete(p.calls, id)
	return waiting
}

// Notify tells the other side something that nobody answers. It doesn't wait until that is written.
func (p *Peer) Notify(method string, body any) error {
	frame, err := newFrame(notice, 0, method, nil, body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	p.outbox.put(frame)
	return nil
}

// Room waits until the other side has read so much that more may be said. It is for those who say much that nobody answers.
func (p *Peer) Room() { p.outbox.room() }

// mostServed is how many calls of the other side are worked on at once; more are answered by an error.
const mostServed = 10_000

// begin begins to serve a call.
func (p *Peer) begin(ctx context.Context, m message, serving *sync.WaitGroup) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serving[m.id] != nil {
		return fmt.Errorf("call %d is begun before the one of the same number is answered", m.id)
	}
	if len(p.serving) >= mostServed {
		p.reply(m.id, nil, fmt.Errorf("%s: %d calls are under way: wait until some are answered", m.method, mostServed))
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

// serve answers one call, however its handler ends.
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

// reply answers a call, unless the connection has ended: what was under way then was told to end, and that is no answer.
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

// hear has a notice handled.
func (p *Peer) hear(ctx context.Context, m message) {
	defer func() { _ = recover() }() // nobody is to be told
	_, _ = p.handle(ctx, m.method, m.body)
}
