package schema

import (
	"fmt"
	"strings"
)

// strategies are the names of the bits of a Strategy, in the order in which they are written.
var strategies = []struct {
	bit  Strategy
	name string
}{{Merge, "merge"}, {Replace, "replace"}, {RetainKeys, "retainKeys"}}

// ParseStrategy reads a strategy as struct tags and x-kubernetes-patch-strategy write it: names
// with commas between them.
func ParseStrategy(text string) (Strategy, error) {
	var parsed Strategy
	if text == "" {
		return parsed, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		bit := strategyBit(name)
		if bit == 0 {
			return 0, fmt.Errorf("patch strategy %q: %q is none of merge, replace and retainKeys", text, name)
		}
		parsed |= bit
	}
	return parsed, nil
}

func strategyBit(name string) Strategy {
	for _, s := range strategies {
		if s.name == name {
			return s.bit
		}
	}
	return 0
}

// String writes a strategy as [ParseStrategy] reads it.
func (s Strategy) String() string {
	var names []string
	for _, known := range strategies {
		if s&known.bit != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, ",")
}
