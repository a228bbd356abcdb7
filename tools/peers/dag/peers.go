package main

import (
	"fmt"
	"sync/atomic"

	heimdalr "github.com/heimdalr/dag"
	"golang.org/x/sync/errgroup"
)

// fan runs n independent no-ops the way errgroup is meant to be used.
func fan(n, limit int) error {
	var g errgroup.Group
	g.SetLimit(limit)
	for range n {
		g.Go(noop)
	}
	return g.Wait()
}

func noop() error { return nil }

// byHand is the loop that people write by hand: named tasks with a counter each, and a goroutine for a task when its
// counter reaches zero. It doesn't check for cycles, bound concurrency or report outcomes.
type byHand struct {
	index map[string]int
	tasks []task
}

type task struct {
	run        func() error
	dependents []int
	waiting    int
}

func newByHand() *byHand { return &byHand{index: map[string]int{}} }

func (h *byHand) add(name string, run func() error) {
	h.index[name] = len(h.tasks)
	h.tasks = append(h.tasks, task{run: run})
}

func (h *byHand) depend(dependent, dependency string) {
	at, on := h.index[dependent], h.index[dependency]
	h.tasks[at].waiting++
	h.tasks[on].dependents = append(h.tasks[on].dependents, at)
}

func (h *byHand) runAll() error {
	var g errgroup.Group
	counters := make([]atomic.Int32, len(h.tasks))
	var launch func(i int)
	launch = func(i int) {
		g.Go(func() error {
			t := &h.tasks[i]
			if err := t.run(); err != nil {
				return err
			}
			for _, next := range t.dependents {
				if counters[next].Add(-1) == 0 {
					launch(next)
				}
			}
			return nil
		})
	}
	for i := range h.tasks {
		counters[i].Store(int32(h.tasks[i].waiting))
	}
	for i := range h.tasks {
		if h.tasks[i].waiting == 0 {
			launch(i)
		}
	}
	return g.Wait()
}

func buildByHand(f fixture) *byHand {
	h := newByHand()
	for _, name := range f.names {
		h.add(name, noop)
	}
	for _, e := range f.edges {
		h.depend(f.names[e[0]], f.names[e[1]])
	}
	return h
}

// buildHeimdalr builds the same graph with a library that also refuses cycles. Its edges lead from the dependency to
// the dependent.
func buildHeimdalr(f fixture) error {
	d := heimdalr.NewDAG()
	for i, name := range f.names {
		if err := d.AddVertexByID(name, i); err != nil {
			return fmt.Errorf("vertex %s: %w", name, err)
		}
	}
	for _, e := range f.edges {
		if err := d.AddEdge(f.names[e[1]], f.names[e[0]]); err != nil {
			return fmt.Errorf("edge %s: %w", f.names[e[0]], err)
		}
	}
	return nil
}
