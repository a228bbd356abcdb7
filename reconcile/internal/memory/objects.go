package memory

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

// If an object is created again pruneLimit times within pruneWindow after it was pruned, another process with the same
// field manager renders it: the two would create and delete it for ever. From then on the object is pruned at most once
// in each prunePause, until it hasn't come back for prunePeace.
const (
	pruneLimit  = 3
	pruneWindow = 10 * time.Minute
	prunePause  = time.Minute
	prunePeace  = 2 * prunePause
)

// CreationLimit is the number of times that a finished object is created again before this is reported.
const CreationLimit = 2

// object is what is remembered of an object that was pruned, or that finishes and was created.
type object struct {
	// pruned are the latest times at which it was pruned.
	pruned []time.Time
	// created: this process has created the object. finished: the object was seen to have finished since.
	created, finished bool
	// ttl is its ttlSecondsAfterFinished, nil if it has none. An object with a ttl may be deleted before it was seen to
	// have finished.
	ttl any
	// again is how often it was created again.
	again int
}

func (r *Resource) object(ref deploy.Ref) *object {
	if r.objects[ref] == nil {
		if r.objects == nil {
			r.objects = map[deploy.Ref]*object{}
		}
		r.objects[ref] = &object{}
	}
	return r.objects[ref]
}

// Pruned records that an object was pruned. Prunings in an earlier generation of the resource don't count: another
// replica may have rendered the object in between.
func (r *Resource) Pruned(generation int64, ref deploy.Ref, now time.Time) {
	for other, o := range r.objects {
		if len(o.pruned) > 0 && (r.generation != generation || now.Sub(o.pruned[len(o.pruned)-1]) > pruneWindow) {
			o.pruned = nil
		}
		if len(o.pruned) == 0 && !o.created {
			delete(r.objects, other)
		}
	}
	r.generation = generation
	o := r.object(ref)
	o.pruned = append(o.pruned, now)
	o.pruned = o.pruned[max(len(o.pruned)-pruneLimit, 0):]
}

// Fought returns the objects that came back too often after they were pruned, each with its Fight. An object whose
// Fight doesn't rest may be pruned now.
func (r *Resource) Fought(now time.Time) map[deploy.Ref]Fight {
	var found map[deploy.Ref]Fight
	for ref, o := range r.objects {
		if len(o.pruned) < pruneLimit || o.pruned[pruneLimit-1].Sub(o.pruned[0]) > pruneWindow {
			continue
		}
		since := now.Sub(o.pruned[pruneLimit-1])
		if since >= prunePeace {
			continue
		}
		if found == nil {
			found = map[deploy.Ref]Fight{}
		}
		if since < prunePause {
			found[ref] = Fight{Rests: true, Left: prunePause - since}
		} else {
			found[ref] = Fight{Left: prunePeace - since}
		}
	}
	return found
}

// Fight is an object that another process creates again and again.
type Fight struct {
	// Rests: the object isn't pruned now.
	Rests bool
	// Left is the time until the object may be pruned again if Rests is true, otherwise the time until the fight is
	// over.
	Left time.Duration
}

// Created records that this process has created an object. finishes: the object is of a kind that finishes. It returns
// how often the object was created again after it had finished or may have finished. Earlier prunings of the object no
// longer count, since this process renders the object itself.
func (r *Resource) Created(ref deploy.Ref, ttl any, finishes bool) (again int) {
	if o := r.objects[ref]; o != nil {
		o.pruned = nil
	}
	if !finishes {
		return 0
	}
	o := r.object(ref)
	if o.created && (o.finished || o.ttl != nil) {
		o.again++
		again = o.again
	}
	o.created, o.finished, o.ttl = true, false, ttl
	return again
}

// Finished records that an object has finished. An object that this process hasn't created is ignored.
func (r *Resource) Finished(ref deploy.Ref) {
	if o := r.objects[ref]; o != nil {
		o.finished = true
	}
}

// Watches reports whether Finished must be called when the object has finished.
func (r *Resource) Watches(ref deploy.Ref) bool {
	o := r.objects[ref]
	return o != nil && o.created && !o.finished
}

// KeepCreated forgets the creations of objects that aren't rendered any more.
func (r *Resource) KeepCreated(rendered func(deploy.Ref) bool) {
	for ref, o := range r.objects {
		if o.created && !rendered(ref) {
			o.created, o.finished, o.ttl, o.again = false, false, nil, 0
		}
		if len(o.pruned) == 0 && !o.created {
			delete(r.objects, ref)
		}
	}
}
