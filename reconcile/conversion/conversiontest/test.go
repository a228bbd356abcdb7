package conversiontest

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// T is a *testing.T.
type T interface {
	// Helper, Logf, Errorf and Fatalf are methods of testing.T.
	Helper()
	// Logf adds a line to the log.
	Logf(format string, args ...any)
	// Errorf fails the test, and goes on.
	Errorf(format string, args ...any)
	// Fatalf ends the test.
	Fatalf(format string, args ...any)
}

// RoundTrips fails the test for each mistake that Check finds. The log has the seed, and the fields that only the
// annotation keeps.
func RoundTrips(t T, c Converter, opts ...Option) {
	t.Helper()
	report, err := Check(c, opts...)
	if err != nil {
		t.Fatalf("conversiontest: %v", err)
		return
	}
	t.Logf("conversiontest: %d objects, seed %d", report.Objects, report.Seed)
	for _, version := range slices.Sorted(maps.Keys(report.Kept)) {
		t.Logf("conversiontest: only the annotation keeps of %s: %s", version, strings.Join(report.Kept[version], ", "))
	}
	for _, found := range report.Findings {
		t.Errorf("%s", found)
	}
}

// Fuzz is RoundTrips as a fuzz target: go test -fuzz runs it until it finds a mistake. Edits of fields that are ignored
// need many objects: only RoundTrips finds them.
func Fuzz(f *testing.F, c Converter, opts ...Option) {
	f.Helper()
	o, err := newOptions(c, opts)
	if err != nil {
		f.Fatalf("conversiontest: %v", err)
	}
	for seed := range uint64(8) {
		f.Add(binary.LittleEndian.AppendUint64(nil, seed+o.seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRun(c, o, newBytes(data))
		v := pick(r.generator, r.versions...)
		object := r.generate(v)
		r.checkFunctions(v, object)
		r.checkPairs(v, object)
		r.checkWays(v, object, r.longWay(v))
		for _, found := range r.findings {
			t.Errorf("%s", found)
		}
	})
}

// bytesSource makes random numbers of what a fuzzer changes, and of numbers that follow from it when that has ended.
type bytesSource struct {
	data []byte
	rest rand.Source
}

func newBytes(data []byte) *bytesSource {
	sum := fnv.New64a()
	_, _ = sum.Write(data)
	return &bytesSource{data, rand.NewPCG(sum.Sum64(), 0)}
}

// Uint64 implements rand.Source. Each number takes two bytes of the data, as its highest ones.
func (b *bytesSource) Uint64() uint64 {
	if len(b.data) < 2 {
		return b.rest.Uint64()
	}
	next := uint64(binary.LittleEndian.Uint16(b.data))<<48 | b.rest.Uint64()>>16
	b.data = b.data[2:]
	return next
}
