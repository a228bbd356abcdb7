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
	defer p.End()
	defer p.Bound(ctx)()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = p.Stdin.Write(body) // a program may answer without its input
		_ = p.Stdin.Close()
	}()
	defer func() {
		_ = p.Stdin.Close()
		<-sent
	}()
	content, err := io.ReadAll(io.LimitReader(p.Stdout, c.MaxResponse+1))
	switch {
	case int64(len(content)) > c.MaxResponse:
		return nil, p.failed(ctx, &limits.SizeError{Hook: c.name(), Limit: c.MaxResponse})
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return nil, p.failed(ctx, fmt.Errorf("read the response: %w", err))
	}
	select {
	case <-ctx.Done():
		return nil, p.failed(ctx, context.Cause(ctx))
	case <-p.Ended():
	}
	if p.Err() != nil || len(content) == 0 {
		<-p.Said()
		return nil, p.exited()
	}
	return content, nil
}
