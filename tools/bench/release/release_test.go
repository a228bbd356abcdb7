package release_test

import (
	"testing"

	"github.com/operkit/operkit/tools/bench/release"
	"github.com/stretchr/testify/assert"
)

func TestCurrent(t *testing.T) {
	first := release.Release{Size: true, CPU: "100m"}
	for _, row := range []struct {
		name, reason string
		want         release.Release
	}{
		{"", "what is measured", first},
		{"1", "the same, named", first},
		{"2", "no longer renders the size", release.Release{CPU: "100m"}},
		{"3", "renders more, and writes it differently", release.Release{Size: true, CPU: "1000m", Name: true, Token: true}},
		{"4", "none of that name", first},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Setenv(release.Variable, row.name)
			assert.Equal(t, row.want, release.Current())
		})
	}
}
