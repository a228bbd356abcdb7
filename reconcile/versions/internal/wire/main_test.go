package wire

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// side is one side of a connection, and what its Run has answered.
type side struct {
	*Peer
	in    *io.PipeReader
	out   *io.PipeWriter
	ended chan error
}

func (s *side) run() {
	go func() {
		err := s.Run(context.Background())
		_ = s.out.Close() // as the end of a process does
		_ = s.in.Close()
		s.ended <- err
	}()
}

// connected are two sides that run.
func connected(t *testing.T, here, there Handler) (*side, *side) {
	t.Helper()
	inHere, outThere := io.Pipe()
	inThere, outHere := io.Pipe()
	a := &side{NewPeer(inHere, outHere, here), inHere, outHere, make(chan error, 1)}
	b := &side{NewPeer(inThere, outThere, there), inThere, outThere, make(chan error, 1)}
	a.run()
	b.run()
	t.Cleanup(func() {
		_ = outHere.Close()
		_ = outThere.Close()
		<-a.ended
		<-b.ended
	})
	return a, b
}

// nothing is a handler of a side that isn't asked.
func nothing(t *testing.T) Handler {
	return func(_ context.Context, method string, _ Raw) (any, error) {
		assert.Fail(t, "nobody is to be asked", method)
		return nil, nil
	}
}
