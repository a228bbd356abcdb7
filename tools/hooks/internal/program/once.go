package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
)

// once runs a process for one call: its output until the end is the response.
func (c *Config) once(ctx context.Context, body []byte) ([]byte, error) {
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	defer p.end()
	defer p.bound(ctx)()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = p.stdin.Write(body) // a program may answer without its input
		_ = p.stdin.Close()
	}()
	defer func() {
		_ = p.stdin.Close()
		<-sent
	}()
	content, err := io.ReadAll(io.LimitReader(p.stdout, c.MaxResponse+1))
	switch {
	case int64(len(content)) > c.MaxResponse:
		return nil, p.failed(ctx, &limits.SizeError{Hook: c.name(), Limit: c.MaxResponse})
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return nil, p.failed(ctx, fmt.Errorf("read the response: %w", err))
	}
	select {
	case <-ctx.Done():
		return nil, p.failed(ctx, context.Cause(ctx))
	case <-p.ended:
	}
	if p.failure != nil || len(content) == 0 {
		<-p.said
		return nil, p.exited()
	}
	return content, nil
}
