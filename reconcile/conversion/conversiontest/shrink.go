package conversiontest

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// mostTries is how many smaller objects are tried.
const mostTries = 800

// shrink returns the smallest object found for which fails is still true.
func shrink(object content, fails func(object content) bool) content {
	s := &shrinking{fails: fails, best: object}
	for before := content(nil); s.tries < mostTries && !reflect.DeepEqual(before, s.best); {
		before = s.best
		s.shrinkAt(nil)
	}
	return s.best
}

type shrinking struct {
	fails func(object content) bool
	best  content
	tries int
}

// try keeps the object that change makes of the best one, if that still fails.
func (s *shrinking) try(change func(object content)) bool {
	if s.tries++; s.tries > mostTries {
		return false
	}
	smaller := runtime.DeepCopyJSON(s.best)
	change(smaller)
	if reflect.DeepEqual(smaller, s.best) || !s.fails(runtime.DeepCopyJSON(smaller)) {
		return false
	}
	s.best = smaller
	return true
}

// shrinkAt makes the value at a path smaller: whole parts first.
func (s *shrinking) shrinkAt(path []any) {
	switch value := valueAt(s.best, path).(type) {
	case content:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if len(path) == 0 && key != "metadata" && slices.Contains(headers, key) || len(path) == 1 && path[0] == "metadata" && key == "name" {
				continue
			}
			below := append(slices.Clone(path), key)
			if !s.try(func(object content) { delete(valueAt(object, path).(content), key) }) {
				s.shrinkAt(below)
			}
		}
	case []any:
		for i := len(value) - 1; i >= 0; i-- {
			below := append(slices.Clone(path), i)
			if !s.try(func(object content) { setAt(object, path, slices.Delete(valueAt(object, path).([]any), i, i+1)) }) {
				s.shrinkAt(below)
			}
		}
	case string:
		s.trySimple(path, "", "a")
	case int64:
		s.trySimple(path, int64(0), int64(1))
	}
}

func (s *shrinking) trySimple(path []any, values ...any) {
	if slices.Contains(values, valueAt(s.best, path)) {
		return
	}
	for _, value := range values {
		if s.try(func(object content) { setAt(object, path, value) }) {
			return
		}
	}
}

func valueAt(value any, path []any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			inner, _ := value.(content)
			value = inner[key]
		case int:
			inner, _ := value.([]any)
			if key >= len(inner) {
				return nil
			}
			value = inner[key]
		}
	}
	return value
}

func setAt(object content, path []any, value any) {
	last := path[len(path)-1]
	switch holder := valueAt(object, path[:len(path)-1]).(type) {
	case content:
		holder[last.(string)] = value
	case []any:
		holder[last.(int)] = value
	}
}
