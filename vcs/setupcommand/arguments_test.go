package setupcommand

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFromOper8(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, args, want string }{
		{"vcs 22: oper8's", "-s a -te 1", "-s a -t 1"},
		{"vcs 22: with its value", "-te=1 -s a", "-t=1 -s a"},
		{"vcs 22: several times", "-te 1 -te 2 -t 3", "-t 1 -t 2 -t 3"},
		{"the letter e is no flag: it is -t and the expression eX", "-teX", "-teX"},
		{"a value that looks so", "-b -te -te -te", "-b -te -t -te"},
		{"the same of a long flag", "--branch-expr -te -te 1", "--branch-expr -te -t 1"},
		{"a long flag with its value", "--branch-expr=x -te 1", "--branch-expr=x -t 1"},
		{"a flag without a value", "-f -te 1", "-f -t 1"},
		{"flags in one, of which the last has a value", "-fqb -te -te 1", "-fqb -te -t 1"},
		{"flags in one, with the value", "-fqbmain -te 1", "-fqbmain -t 1"},
		{"what isn't known", "-x -te 1 --y -te 2", "-x -t 1 --y -t 2"},
		{"what is no flag", "-s a -- -te 1", "-s a -- -te 1"},
		{"a hyphen alone", "- -te 1", "- -t 1"},
		{"nothing behind it", "-te", "-t"},
	} {
		args := strings.Fields(row.args)
		before := slices.Clone(args)
		assert.Equal(t, strings.Fields(row.want), fromOper8(New().Flags(), args), row.reason)
		assert.Equal(t, before, args, "what was given isn't changed")
	}
}

func FuzzFromOper8(f *testing.F) {
	for _, seed := range []string{"-te 1", "-b -te -te=2", "-fqb -te", "-- -te", "--source=x -\xff -te"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, " ")
		got := fromOper8(New().Flags(), args)
		assert.Len(t, got, len(args))
		for i, arg := range args {
			if got[i] != arg {
				assert.True(t, arg == "-te" && got[i] == "-t" || strings.HasPrefix(arg, "-te=") && got[i] == "-t="+arg[len("-te="):], "%q became %q", arg, got[i])
			}
		}
		assert.Equal(t, got, fromOper8(New().Flags(), got), "there is nothing left to do")
	})
}
