package logging

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScope(t *testing.T) {
	t.Parallel()
	said := func(ctx context.Context) string {
		var out bytes.Buffer
		handler := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})
		Scoped(ctx, slog.New(handler)).Info("works")
		return strings.TrimSpace(out.String())
	}
	outside := t.Context()
	Annotate(outside, slog.String("trace", "none"))
	assert.Equal(t, "level=INFO msg=works", said(outside), "outside of a scope nothing is kept")
	work := NewScope(outside)
	below, cancel := context.WithCancel(work)
	defer cancel()
	Annotate(below, slog.String("trace", "abc"))
	assert.Equal(t, "level=INFO msg=works trace=abc", said(work), "what is found out below is said above")
	part := NewScope(work)
	Annotate(part, slog.Int("part", 1))
	assert.Equal(t, "level=INFO msg=works trace=abc part=1", said(part))
	assert.Equal(t, "level=INFO msg=works trace=abc", said(work), "a part's is its own")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			Annotate(work, slog.Bool("again", true))
			said(work)
		})
	}
	all.Wait()
	assert.Equal(t, 10, strings.Count(said(work), "again=true"))
}
