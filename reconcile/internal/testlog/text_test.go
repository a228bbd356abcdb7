package testlog

import (
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWithoutLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "setup: panic: no (front.go); a:1, b.go", WithoutLines("setup: panic: no (front.go:57); a:1, b.go:1"))
}

func TestText(t *testing.T) {
	t.Parallel()
	var text Text
	logger := slog.New(slog.NewTextHandler(&text, nil))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { logger.Info("done"); _ = text.String() })
	}
	all.Wait()
	assert.Equal(t, 10, text.Count("msg=done\n"))
	text.Reset()
	assert.Empty(t, text.String())
}
