package render

import (
	"fmt"
	"slices"
	"strings"
)

// Order returns items in an order in which each comes after the items that it waits for. Otherwise the items keep their
// order. A cycle is an error that names its items.
func Order[T comparable](items []T, after func(T) []T, name func(T) string) ([]T, error) {
	if !slices.ContainsFunc(items, func(item T) bool { return len(after(item)) > 0 }) {
		return items, nil
	}
	const entered, done = 1, 2
	sorted := make([]T, 0, len(items))
	state := make(map[T]int, len(items))
	var path []T
	var visit func(item T) error
	visit = func(item T) error {
		switch state[item] {
		case done:
			return nil
		case entered:
			var names []string
			for _, other := range append(path[slices.Index(path, item):], item) {
				names = append(names, name(other))
			}
			return fmt.Errorf("its objects wait for each other: %s", strings.Join(names, " -> "))
		}
		state[item] = entered
		path = append(path, item)
		for _, other := range after(item) {
			if err := visit(other); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[item] = done
		sorted = append(sorted, item)
		return nil
	}
	for _, item := range items {
		if err := visit(item); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
