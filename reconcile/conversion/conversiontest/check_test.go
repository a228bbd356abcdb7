package conversiontest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/conversion/conversiontest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type (
	up   = func(from *shopV1, to *shopV2) error
	down = func(from *shopV2, to *shopV1) error
)

// after returns the right functions, with a mistake after each of them; nil is none.
func after(upper up, lower down) *conversion.Converter[shopV2] {
	return shops(func(from *shopV1, to *shopV2) error {
		if err := upFromV1(from, to); err != nil || upper == nil {
			return err
		}
		return upper(from, to)
	}, func(from *shopV2, to *shopV1) error {
		if err := downToV1(from, to); err != nil || lower == nil {
			return err
		}
		return lower(from, to)
	})
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, row := range []struct {
		reason    string
		converter conversiontest.Converter
		problem   conversiontest.Problem
		function  string
		field     string
		says      string
	}{
		{"a panic", after(func(from *shopV1, _ *shopV2) error { return errors.New(from.Spec.Tags["a"][:1]) }, nil), conversiontest.Panics, "Up of v1", "",
			"Up of v1 panics: runtime error: slice bounds out of range [:1] with length 0\nobject: {\"apiVersion\":\"example.com/v1\",\"kind\":\"Shop\"}"},
		{"an error", after(nil, func(from *shopV2, _ *shopV1) error {
			if len(from.Spec.Doors) > 1 {
				return fmt.Errorf("spec.doors: one is enough")
			}
			return nil
		}), conversiontest.Fails, "Down of v1", "",
			"Down of v1 returns an error: spec.doors: one is enough\nobject: {\"apiVersion\":\"example.com/v2\",\"kind\":\"Shop\",\"spec\":{\"doors\":[{},{}]}}"},
		{"a change of the object that is converted", after(nil, func(from *shopV2, _ *shopV1) error {
			delete(from.Spec.Labels, "a")
			return nil
		}), conversiontest.Changes, "Down of v1", "spec.labels",
			"Down of v1 changes the object that it gets: spec.labels is {\"a\":\"\"} and becomes absent"},
		{"the order of a map", after(func(from *shopV1, to *shopV2) error {
			for _, tag := range from.Spec.Tags {
				to.Status.Phase = tag
			}
			return nil
		}, nil), conversiontest.Differs, "Up of v1", "status.phase", "Up of v1 returns different results for the same object: status.phase is"},
		{"a counter", after(func(_ *shopV1, to *shopV2) error {
			calls++
			to.Spec.Metres = float64(calls)
			return nil
		}, nil), conversiontest.Differs, "Up of v1", "spec.metres", "status"},
		{"a field that Up ignores", shops(func(from *shopV1, to *shopV2) error {
			err := upFromV1(from, to)
			to.Spec.Replicas = 0
			return err
		}, downToV1), conversiontest.Unread, "Up of v1", "spec.count", "Up of v1 ignores a field that the other function fills: spec.count of v1: 8 edits of it have changed nothing in v2: convert it, or declare it by Derived"},
		{"a field that Down ignores", shops(upFromV1, func(from *shopV2, to *shopV1) error {
			err := downToV1(from, to)
			to.Status.Open = false
			return err
		}), conversiontest.Unread, "Down of v1", "status.phase", "edits of it have changed nothing in v1"},
		{"an annotation that can't keep what is lost", forgetful{shops(upFromV1, downToV1)}, conversiontest.Lost, "Down of v1, Up of v1", "",
			"an object of v2 to v1 to v2 isn't the same after the way back (Down of v1, Up of v1): "},
	} {
		t.Run("conversion 11: "+row.reason+" is found, with the smallest object", func(t *testing.T) {
			objects := 15
			if row.problem == conversiontest.Unread {
				objects = 40
			}
			report, err := conversiontest.Check(row.converter, conversiontest.Objects(objects))
			require.NoError(t, err)
			i := slices.IndexFunc(report.Findings, func(f conversiontest.Finding) bool {
				return f.Problem == row.problem && f.Function == row.function && (row.field == "" || f.Field == row.field)
			})
			require.GreaterOrEqual(t, i, 0, "%v", report.Findings)
			if row.says != "status" {
				assert.Contains(t, report.Findings[i].String(), row.says)
			}
		})
	}
}

// forgetful is a converter that loses its annotations.
type forgetful struct{ conversiontest.Converter }

func (f forgetful) Convert(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	converted, err := f.Converter.Convert(object, version)
	if err == nil {
		annotations := converted.GetAnnotations()
		for _, name := range []string{"v1", "v2", "v3"} {
			delete(annotations, "operkit.dev/kept-"+name)
		}
		converted.SetAnnotations(annotations)
	}
	return converted, err
}

func TestRight(t *testing.T) {
	t.Parallel()
	right := shops(upFromV1, downToV1)
	t.Run("conversion 10: objects with all kinds of fields come back through all other versions", func(t *testing.T) {
		t.Parallel()
		report, err := conversiontest.Check(right, conversiontest.Seed(uint64(time.Now().Unix())), conversiontest.Objects(50))
		require.NoError(t, err)
		assert.Empty(t, report.Findings, "seed %d", report.Seed)
		assert.Equal(t, 150, report.Objects)
	})
	t.Run("conversion 10: the same seed makes the same objects", func(t *testing.T) {
		t.Parallel()
		wrong := after(nil, func(from *shopV2, _ *shopV1) error {
			if len(from.Spec.Inner) > 1 {
				return errors.New("no")
			}
			return nil
		})
		first, err := conversiontest.Check(wrong, conversiontest.Objects(10), conversiontest.Seed(3))
		require.NoError(t, err)
		again, err := conversiontest.Check(wrong, conversiontest.Objects(10), conversiontest.Seed(3))
		require.NoError(t, err)
		require.NotEmpty(t, first.Findings)
		assert.Equal(t, first, again)
	})
	t.Run("conversion 12: the fields that only the annotation keeps are reported", func(t *testing.T) {
		t.Parallel()
		report, err := conversiontest.Check(right, conversiontest.Objects(40))
		require.NoError(t, err)
		assert.Equal(t, []string{"spec.motto", "spec.size"}, report.Kept["v1"])
		assert.Subset(t, report.Kept["v2"], []string{"spec.bytes", "spec.doors[*].glass", "spec.memory", "spec.metres", "spec.paint.gloss"})
		assert.Equal(t, []string{"spec.doors[*]"}, report.Kept["v3"])
	})
	t.Run("conversion 12: with Keeps, another field is a mistake of both functions", func(t *testing.T) {
		t.Parallel()
		report, err := conversiontest.Check(right, conversiontest.Objects(20), conversiontest.Keeps("v1", "spec.motto"), conversiontest.Keeps("v3", "spec.doors"))
		require.NoError(t, err)
		require.Len(t, report.Findings, 1)
		assert.Equal(t, `Up of v1 or Down of v1 forgets a field: spec.size is "a" and becomes absent, without the annotation that keeps it: convert it, or declare it by Keeps
object: {"apiVersion":"example.com/v1","kind":"Shop","spec":{"size":"a"}}`, report.Findings[0].String())
		assert.Equal(t, conversiontest.Kept, report.Findings[0].Problem)
	})
	t.Run("conversion 13: Valid makes what a schema demands, and Derived allows a field that is only read", func(t *testing.T) {
		t.Parallel()
		picky := shops(func(from *shopV1, to *shopV2) error {
			if size := from.Spec.Size; size != "" && size != "small" && size != "large" {
				return fmt.Errorf("spec.size: %s", size)
			}
			return upFromV1(from, to)
		}, func(from *shopV2, to *shopV1) error {
			err := downToV1(from, to)
			to.Spec.Motto = fmt.Sprint(from.Spec.Replicas, " shops")
			return err
		})
		report, err := conversiontest.Check(picky)
		require.NoError(t, err)
		require.Len(t, report.Findings, 1)
		assert.Contains(t, report.Findings[0].Detail, "spec.size: a")
		valid := conversiontest.Valid(func(shop *shopV1) {
			if shop.Spec.Size != "" {
				shop.Spec.Size = []string{"small", "large"}[len(shop.Spec.Size)%2]
			}
		})
		report, err = conversiontest.Check(picky, valid)
		require.NoError(t, err)
		require.Len(t, report.Findings, 1)
		assert.Equal(t, "spec.motto", report.Findings[0].Field)
		report, err = conversiontest.Check(picky, valid, conversiontest.Derived("v1", "spec.motto"), nil)
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
	})
	t.Run("conversion 13: any content of a kind without Go types comes back", func(t *testing.T) {
		t.Parallel()
		c := conversion.New[unstructured.Unstructured](v2)
		conversion.Add(c, v1, conversion.Functions[unstructured.Unstructured, unstructured.Unstructured]{Up: move, Down: move})
		report, err := conversiontest.Check(c)
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
	})
}

// move copies the spec.
func move(from, to *unstructured.Unstructured) error {
	if spec, ok := from.DeepCopy().Object["spec"]; ok {
		to.Object["spec"] = spec
	}
	return nil
}

func TestOptions(t *testing.T) {
	t.Parallel()
	t.Run("conversion 13: mistakes in options and in the registration are one error", func(t *testing.T) {
		t.Parallel()
		right := shops(upFromV1, downToV1)
		_, err := conversiontest.Check(right, conversiontest.Objects(0), conversiontest.Keeps("v9"), conversiontest.Derived("v8", "spec"), conversiontest.Valid(func(*door) {}))
		assert.EqualError(t, err, "derived v8: the converter has no such version\nkeeps v9: the converter has no such version\nobjects: 0: at least 1 is needed\nvalid conversiontest_test.door: no version has this type")
		_, err = conversiontest.Check(conversion.New[shopV2](v2))
		assert.ErrorContains(t, err, "nothing to convert")
	})
}

// recorder is a test that records.
type recorder struct {
	testing.TB
	logs, errors, fatal []string
}

func (r *recorder) Helper() {}
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = append(r.fatal, fmt.Sprintf(format, args...))
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	t.Run("conversion 10: a test fails for each mistake, and logs the seed and what the annotation keeps", func(t *testing.T) {
		t.Parallel()
		var r recorder
		conversiontest.RoundTrips(&r, after(func(*shopV1, *shopV2) error { panic("odd") }, nil), conversiontest.Seed(7), conversiontest.Objects(20))
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0], "Up of v1 panics: odd")
		assert.Equal(t, "conversiontest: 60 objects, seed 7", r.logs[0])
		assert.Contains(t, fmt.Sprint(r.logs), "only the annotation keeps of v2: ")
		assert.Empty(t, r.fatal)
	})
	t.Run("conversion 13: a test with a wrong option fails at once", func(t *testing.T) {
		t.Parallel()
		var r recorder
		conversiontest.RoundTrips(&r, shops(upFromV1, downToV1), conversiontest.Objects(-1))
		assert.Equal(t, []string{"conversiontest: objects: -1: at least 1 is needed"}, r.fatal)
		assert.Empty(t, r.errors)
	})
}

func FuzzConversion(f *testing.F) { conversiontest.Fuzz(f, shops(upFromV1, downToV1)) }
