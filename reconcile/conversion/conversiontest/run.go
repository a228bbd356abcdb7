package conversiontest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/conversion"
)

// run is one run of all checks.
type run struct {
	*generator
	converter Converter
	options   options
	hub       conversion.Version
	versions  []conversion.Version
	findings  []Finding
	known     map[string]bool
	// broken are the functions with a finding.
	broken map[string]bool
	kept   map[string]map[string]bool
	edits  map[string]*edited
}

func newRun(c Converter, o options, source rand.Source) *run {
	versions := c.Versions()
	return &run{
		generator: newGenerator(source), converter: c, options: o, hub: versions[0], versions: versions,
		known: map[string]bool{}, broken: map[string]bool{}, kept: map[string]map[string]bool{}, edits: map[string]*edited{},
	}
}

// Check tests a converter, and returns what it has found. The error is a mistake of the registration or of an option.
func Check(c Converter, opts ...Option) (*Report, error) {
	o, err := newOptions(c, opts)
	if err != nil {
		return nil, err
	}
	r := newRun(c, o, rand.NewPCG(o.seed, 0))
	objects := map[string][]content{}
	for range o.objects {
		for _, v := range r.versions {
			object := r.generate(v)
			objects[v.Kind.Version] = append(objects[v.Kind.Version], object)
			r.checkFunctions(v, object)
		}
	}
	for i := range o.objects {
		for _, v := range r.versions {
			r.checkPairs(v, objects[v.Kind.Version][i])
		}
	}
	for i := range (o.objects + 1) / 2 {
		for _, v := range r.versions {
			r.checkWays(v, objects[v.Kind.Version][i], r.longWay(v))
		}
	}
	r.judgeEdits()
	report := &Report{Seed: o.seed, Objects: o.objects * len(r.versions), Findings: r.findings, Kept: map[string][]string{}}
	for version, fields := range r.kept {
		report.Kept[version] = slices.Sorted(maps.Keys(fields))
	}
	return report, nil
}

// checkFunctions calls the functions that get an object.
func (r *run) checkFunctions(v conversion.Version, object content) {
	for _, call := range r.callsFrom(v) {
		r.note(v, object, func(object content) *Finding { return r.checkFunction(call, object) })
	}
}

// checkPairs converts an object to each other version and back, also with an edit on the way.
func (r *run) checkPairs(v conversion.Version, object content) {
	r.checkWays(v, object, r.pairs(v)...)
	for _, w := range r.versions {
		isSpoke, hubsTurn := v.Kind != r.hub.Kind && w.Kind == r.hub.Kind, v.Kind == r.hub.Kind && w.Kind != r.hub.Kind
		if (isSpoke || hubsTurn) && !r.isBroken([]conversion.Version{v, w, v}) {
			r.checkKept(v, w, object)
			r.edit(v, w, object)
		}
	}
}

// note records what a check finds with the smallest object that shows it.
func (r *run) note(v conversion.Version, object content, check func(object content) *Finding) {
	found := check(object)
	if found == nil || r.known[found.key()] {
		return
	}
	key := found.key()
	smallest := shrink(object, func(object content) bool {
		again := check(r.valid(v, object))
		return again != nil && again.key() == key
	})
	if again := check(r.valid(v, smallest)); again != nil && again.key() == key {
		found = again
	}
	r.add(*found)
}

func (r *run) add(found Finding) {
	if r.known[found.key()] {
		return
	}
	r.known[found.key()] = true
	r.findings = append(r.findings, found)
	if found.Problem != Kept && found.Problem != Unread {
		for name := range strings.SplitSeq(found.Function, ", ") {
			r.broken[name] = true
		}
	}
}

// checkWays converts an object along ways whose functions aren't known to be wrong.
func (r *run) checkWays(v conversion.Version, object content, ways ...[]conversion.Version) {
	for _, way := range ways {
		if !r.isBroken(way) {
			r.note(v, object, func(object content) *Finding { return r.checkWay(way, object) })
		}
	}
}

// pairs returns the ways from a version to each other one and back.
func (r *run) pairs(v conversion.Version) (ways [][]conversion.Version) {
	for _, w := range r.versions {
		if w.Kind != v.Kind {
			ways = append(ways, []conversion.Version{v, w, v})
		}
	}
	return ways
}

// longWay returns a way from a version through several others, and back to it.
func (r *run) longWay(v conversion.Version) []conversion.Version {
	way := []conversion.Version{v}
	for length := 3 + r.IntN(3); len(way) < length || way[len(way)-1].Kind == v.Kind; {
		if next := pick(r.generator, r.versions...); next.Kind != way[len(way)-1].Kind {
			way = append(way, next)
		}
	}
	return append(way, v)
}

// functionsOn returns the names of the functions on a way.
func (r *run) functionsOn(way []conversion.Version) (names []string) {
	for i, next := range way[1:] {
		if before := way[i]; before.Kind != next.Kind {
			for _, one := range []struct {
				v    conversion.Version
				name string
			}{{before, "Up"}, {next, "Down"}} {
				if name := one.name + " of " + one.v.Kind.Version; one.v.Kind != r.hub.Kind && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// isBroken reports whether a function on the way is known to be wrong. A conversion also tries the functions back.
func (r *run) isBroken(way []conversion.Version) bool {
	return slices.ContainsFunc(r.functionsOn(way), func(name string) bool {
		_, version, _ := strings.Cut(name, " of ")
		return r.broken["Up of "+version] || r.broken["Down of "+version]
	})
}
