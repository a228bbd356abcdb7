package main

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// concurrency is how many objects each side works on at once, where it can.
const concurrency = 8

// warmUps is the number of passes before the measured one.
const warmUps = 3

// batch is how many creations are measured in a row: single ones differ too much.
const batch = 3

// source returns objects in a namespace, such as [hundred].
type source func(where string) ([]*unstructured.Unstructured, error)

// outcome is the result of a pass for every object.
type outcome string

const (
	created    outcome = "created"
	unchanged  outcome = "unchanged"
	configured outcome = "configured"
)

// side applies objects in one way.
type side interface {
	// pass applies the objects once. It returns an error if an object had another outcome.
	pass(ctx context.Context, want outcome) error
	close()
}

// opener returns a side for objects of a namespace. Its watches are synced.
type opener func(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (side, error)

// lab measures the sides. server is called when the API server is first needed.
type lab struct {
	server func() (*server, error)
}

// open opens a side for objects in a namespace.
func (l lab) open(ctx context.Context, open opener, where string, objects source) (side, error) {
	s, err := l.server()
	if err != nil {
		return nil, err
	}
	content, err := objects(where)
	if err != nil {
		return nil, err
	}
	return open(ctx, s.config, where, content)
}

// namespace is server.namespace.
func (l lab) namespace(ctx context.Context) (string, error) {
	s, err := l.server()
	if err != nil {
		return "", err
	}
	return s.namespace(ctx)
}

// populate has a side create objects in a new namespace.
func (l lab) populate(ctx context.Context, open opener, objects source) (where string, err error) {
	if where, err = l.namespace(ctx); err != nil {
		return "", err
	}
	s, err := l.open(ctx, open, where, objects)
	if err != nil {
		return "", err
	}
	defer s.close()
	return where, s.pass(ctx, created)
}

// again measures passes over a hundred existing objects that need no change. The side was opened on them, as after a
// restart, and has made its first passes.
func (l lab) again(open opener) func(b *testing.B) {
	populated := sync.OnceValues(func() (string, error) { return l.populate(context.Background(), open, hundred) })
	return func(b *testing.B) {
		where, err := populated()
		must(b, err)
		s, err := l.open(b.Context(), open, where, hundred)
		must(b, err)
		defer s.close()
		for range warmUps {
			must(b, s.pass(b.Context(), unchanged))
		}
		before := processorTime()
		for b.Loop() {
			must(b, s.pass(b.Context(), unchanged))
		}
		b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
	}
}

// fresh measures the creation of a hundred objects, each time in a new namespace, by a side that was opened when the
// namespace was empty.
func (l lab) fresh(open opener) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			for range batch {
				b.StopTimer()
				where, err := l.namespace(b.Context())
				must(b, err)
				s, err := l.open(b.Context(), open, where, hundred)
				must(b, err)
				b.StartTimer()
				err = s.pass(b.Context(), created)
				b.StopTimer()
				s.close()
				must(b, err)
				b.StartTimer()
			}
		}
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// processorTime returns the user and system time of this process so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
