package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo answers with what it is asked.
func echo(_ context.Context, _ string, body Raw) (any, error) { return body, nil }

// Both sides call at once, each from within what it answers, and get the answers that are theirs.
func TestPeersCallBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	var a, b *side
	var ready sync.WaitGroup
	ready.Add(1)
	down := func(other func() *side) Handler {
		return func(ctx context.Context, method string, body Raw) (any, error) {
			var n int64
			if err := Decode(body, &n); err != nil || n == 0 {
				return n, err
			}
			var below int64
			err := other().Call(ctx, method, n-1, &below)
			return below + 1, err
		}
	}
	a, b = connected(t, down(func() *side { ready.Wait(); return b }), down(func() *side { ready.Wait(); return a }))
	ready.Done()
	var calling sync.WaitGroup
	for i := range 100 {
		calling.Go(func() {
			from := []*side{a, b}[i%2]
			var got int64
			assert.NoError(t, from.Call(t.Context(), "down", int64(i), &got))
			assert.EqualValues(t, i, got)
		})
	}
	calling.Wait()
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	a, _ := connected(t, nothing(t), func(ctx context.Context, method string, _ Raw) (any, error) {
		switch method {
		case "panic":
			panic("the roof falls in")
		case "exit":
			runtime.Goexit()
		case "unsendable":
			return make(chan int), nil
		case "nil":
			return nil, nil
		case "both":
			return "a value", errors.New("and an error")
		case "rude error":
			return nil, rudeError{}
		}
		return nil, fmt.Errorf("%q: there is no such call", method)
	})
	for _, row := range []struct {
		reason, method, wrong string
		target                any
	}{
		{"a call that nobody knows", "bake", `"bake": there is no such call`, nil},
		{"a panic is an error of that call alone", "panic", "panic: the roof falls in", nil},
		{"and so is the end of the goroutine", "exit", "runtime.Goexit was called", nil},
		{"an answer that can't be sent", "unsendable", "its answer can't be sent", nil},
		{"no answer where one is needed", "nil", "", new(any)},
		{"an error goes before a value", "both", "and an error", new(string)},
		{"an error whose methods panic", "rude error", "an error of type wire.rudeError: its methods panic: me too", nil},
	} {
		err := a.Call(t.Context(), row.method, nil, row.target)
		if row.wrong == "" {
			assert.NoError(t, err, row.reason)
			continue
		}
		assert.ErrorContains(t, err, row.wrong, row.reason)
		assert.NotErrorIs(t, err, ErrGone, row.reason)
	}
	var panicked *dag.PanicError
	require.ErrorAs(t, a.Call(t.Context(), "panic", nil, nil), &panicked)
	assert.Contains(t, string(panicked.Stack), "peer_test.go", "where it was")
	assert.ErrorContains(t, a.Call(t.Context(), "nil", nil, new(Session)), "nil: its answer: a *wire.Session is missing", "nothing is no structure")
	require.ErrorContains(t, a.Call(t.Context(), "x", make(chan int), nil), "x: ", "what can't be sent is not sent")
}

type rudeError struct{}

func (rudeError) Error() string { panic("me too") }

// Who gives a call up doesn't wait for its answer; the other side is told, and answers all the same, to nobody.
func TestCancel(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan bool, 1), make(chan error, 1)
	a, _ := connected(t, nothing(t), func(ctx context.Context, method string, body Raw) (any, error) {
		if method == "echo" {
			return body, nil
		}
		begun <- true
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the resource is gone")
	go func() {
		<-begun
		cancel(why)
	}()
	require.Equal(t, why, a.Call(ctx, "wait", nil, nil))
	require.Equal(t, context.Canceled, <-ended)
	require.Equal(t, why, a.Call(ctx, "wait", nil, nil), "one that is given up before isn't begun")
	assert.Empty(t, begun)
	var got string
	require.NoError(t, a.Call(t.Context(), "echo", "still there", &got))
	assert.Equal(t, "still there", got)
	a.mu.Lock()
	defer a.mu.Unlock()
	assert.Empty(t, a.calls, "nothing is kept of it")
}

// Notices are handled in the order in which they were sent, before the answer that was sent after them.
func TestNotices(t *testing.T) {
	t.Parallel()
	var heard []int64
	a, _ := connected(t, nothing(t), func(_ context.Context, method string, body Raw) (any, error) {
		if method == "ask" {
			return heard, nil
		}
		var n int64
		err := Decode(body, &n)
		if heard = append(heard, n); n == 3 {
			panic("a notice that panics is nobody's")
		}
		return "nobody hears this", err
	})
	for n := range int64(10) {
		require.NoError(t, a.Notify("note", n))
	}
	var got []int64
	require.NoError(t, a.Call(t.Context(), "ask", nil, &got))
	assert.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, got)
	require.Error(t, a.Notify("note", make(chan int)))
}

// raw is a side of which the test writes and reads each byte itself.
func raw(t *testing.T, handle Handler) (p *side, in io.Writer, out io.Reader) {
	t.Helper()
	inHere, outThere := io.Pipe()
	inThere, outHere := io.Pipe()
	p = &side{NewPeer(inHere, outHere, handle), inHere, outHere, make(chan error, 1)}
	p.run()
	t.Cleanup(func() {
		_ = outThere.Close()
		_ = inThere.Close()
	})
	return p, outThere, inThere
}

func write(t *testing.T, to io.Writer, kind messageKind, id uint64, method string, body any) {
	t.Helper()
	frame, err := newFrame(kind, id, method, nil, body)
	require.NoError(t, err)
	_, err = to.Write(frame.Bytes())
	require.NoError(t, err)
}

// A side that doesn't keep to the protocol is one with which nobody speaks any more: all who wait for it know.
func TestPeerThatIsGone(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		does  func(t *testing.T, to io.Writer)
		wrong string
	}{
		"it ends":                            {func(t *testing.T, to io.Writer) {}, "EOF"},
		"it ends in the middle of a message": {func(t *testing.T, to io.Writer) { _, _ = to.Write([]byte{0, 0, 1, 0, 0x85}) }, "in the middle of a message"},
		"it prints":                          {func(t *testing.T, to io.Writer) { _, _ = to.Write([]byte("Hello, world\n")) }, "is something else written"},
		"it says something of no kind":       {func(t *testing.T, to io.Writer) { write(t, to, 9, 1, "", nil) }, "a message of the unknown kind 9"},
		"it begins two calls of the one number": {func(t *testing.T, to io.Writer) {
			write(t, to, call, 1, "wait", nil)
			write(t, to, call, 1, "wait", nil)
		}, "call 1: an open call has this number already"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p, to, from := raw(t, func(ctx context.Context, _ string, _ Raw) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
			go func() { _, _ = io.Copy(io.Discard, from) }()
			answered := make(chan error, 1)
			go func() { answered <- p.Call(t.Context(), "ask", nil, nil) }()
			row.does(t, to)
			_ = to.(io.Closer).Close()
			err := <-answered
			require.ErrorIs(t, err, ErrGone)
			require.ErrorContains(t, err, row.wrong)
			require.ErrorContains(t, <-p.ended, row.wrong)
			<-p.Done()
			require.ErrorIs(t, p.Call(t.Context(), "ask", nil, nil), ErrGone, "nor is it asked again")
			require.NoError(t, p.Notify("note", nil), "who tells it something needn't know")
			p.Room()
		})
	}
}

// Messages that are no use are passed over: an answer to a call that nobody waits for, the end of one that isn't under way.
func TestMessagesOfNoUse(t *testing.T) {
	t.Parallel()
	p, to, from := raw(t, echo)
	write(t, to, answer, 99, "", "nobody has asked")
	write(t, to, cancel, 99, "", nil)
	write(t, to, notice, 5, "whatever", nil)
	write(t, to, call, 1, "echo", "hello")
	m, err := readFrame(from)
	require.NoError(t, err)
	assert.Equal(t, answer, m.kind)
	assert.EqualValues(t, 1, m.id)
	var got string
	require.NoError(t, Decode(m.body, &got))
	assert.Equal(t, "hello", got)
	_ = to.(io.Closer).Close()
	require.Equal(t, io.EOF, <-p.ended)
}

// Another side that doesn't read holds nobody up who can give up, and of what it is told no more is kept than of what it is asked.
func TestPeerThatDoesntRead(t *testing.T) {
	t.Parallel()
	p, to, _ := raw(t, nothing(t))
	for range 100 {
		require.NoError(t, p.Notify("note", strings.Repeat("x", crowded/50)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Equal(t, context.DeadlineExceeded, p.Call(ctx, "ask", nil, nil))
	waited := make(chan bool)
	go func() {
		p.Room() // who says much waits
		close(waited)
	}()
	select {
	case <-waited:
		assert.Fail(t, "there was room although nothing is read")
	case <-time.After(50 * time.Millisecond):
	}
	_ = p.out.CloseWithError(io.ErrClosedPipe)
	<-waited
	<-p.Done()
	require.ErrorIs(t, p.Call(t.Context(), "ask", nil, nil), ErrGone, "a side to which nothing can be written is gone, too")
	_ = to.(io.Closer).Close()
	<-p.ended
}

// What is under way when the other side ends is told to end, and Run waits for it.
func TestRunWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	var running atomic.Int64
	begun := make(chan bool)
	p, to, from := raw(t, func(ctx context.Context, _ string, _ Raw) (any, error) {
		running.Add(1)
		begun <- true
		<-ctx.Done()
		time.Sleep(10 * time.Millisecond)
		running.Add(-1)
		return "too late", nil
	})
	var answers bytes.Buffer
	read := make(chan bool)
	go func() {
		_, _ = io.Copy(&answers, from)
		close(read)
	}()
	for id := range uint64(5) {
		write(t, to, call, id, "wait", nil)
		<-begun
	}
	_ = to.(io.Closer).Close()
	require.Equal(t, io.EOF, <-p.ended)
	assert.Zero(t, running.Load())
	<-read
	assert.Zero(t, answers.Len(), "that it was told to end is no answer")
}

// So many calls that this side would drown in them are refused.
func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	p, to, from := raw(t, func(ctx context.Context, _ string, _ Raw) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
	go func() {
		var calls bytes.Buffer
		for id := range uint64(servedLimit + 1) {
			frame, _ := newFrame(call, id, "wait", nil, nil)
			calls.Write(frame.Bytes())
		}
		_, _ = to.Write(calls.Bytes())
	}()
	m, err := readFrame(from)
	require.NoError(t, err)
	assert.EqualValues(t, servedLimit, m.id)
	require.ErrorContains(t, m.problem.Err(), "10000 calls are under way")
	_ = to.(io.Closer).Close()
	go func() { _, _ = io.Copy(io.Discard, from) }()
	<-p.ended
}
