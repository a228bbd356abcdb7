package dag_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// vectorFamily is the family of behaviour vectors that this module knows.
const vectorFamily = "oper8-dag"

type vectorFile struct {
	Family string       `json:"family"`
	Cases  []vectorCase `json:"cases"`
}

type vectorCase struct {
	Name     string        `json:"name"`
	Input    vectorInput   `json:"input"`
	Output   *vectorOutput `json:"output"`
	Error    *vectorError  `json:"error"`
	Variants []struct {
		Output vectorOutput `json:"output"`
	} `json:"output_variants"`
}

type vectorInput struct {
	Kind  string      `json:"kind"`
	Nodes vectorNodes `json:"nodes"`
	// Edges are [parent, child] or [parent, child, predicate].
	Edges          [][]json.RawMessage `json:"edges"`
	Threads        *int                `json:"threads"`
	Disabled       []string            `json:"disabled"`
	Reenabled      []string            `json:"reenabled"`
	VerifyUpstream *bool               `json:"verify_upstream"`
}

type vectorOutput struct {
	Verified        []string     `json:"verified"`
	Unverified      []string     `json:"unverified"`
	Failed          []string     `json:"failed"`
	Unstarted       []string     `json:"unstarted"`
	Exception       *vectorError `json:"exception"`
	DeployCompleted bool         `json:"deploy_completed"`
	VerifyCompleted bool         `json:"verify_completed"`
	IsFailed        bool         `json:"is_failed"`
	Str             string       `json:"str"`
	Ran             []string     `json:"ran"`
	Repr            string       `json:"repr"`
	Topology        []string     `json:"topology"`
	RunRaised       *vectorError `json:"run_raised"`
}

type vectorError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// vectorNodes are names in order with their behaviours, from an object or a list of names.
type vectorNodes []struct{ name, behaviour string }

func (n *vectorNodes) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	first, err := decoder.Token()
	if err != nil {
		return err
	}
	for decoder.More() {
		var node struct{ name, behaviour string }
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		node.name, _ = name.(string)
		if first == json.Delim('{') {
			if err := decoder.Decode(&node.behaviour); err != nil {
				return err
			}
		}
		*n = append(*n, node)
	}
	return nil
}

func TestVectors(t *testing.T) {
	cases := readVectors(t, cmp.Or(os.Getenv("OPERKIT_VECTORS"), filepath.Join("testdata", "vectors")))
	require.NotEmpty(t, cases, "no cases of the family %s", vectorFamily)
	var passed, failed, deviating int
	for _, c := range cases {
		var rules []string
		switch {
		case !t.Run(c.Name, func(t *testing.T) { rules = c.check(t) }):
			failed++
		case len(rules) > 0:
			deviating++
			t.Logf("%s deviates by %s", c.Name, strings.Join(rules, ", "))
		default:
			passed++
		}
	}
	t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", vectorFamily, passed, failed, deviating)
}

func readVectors(t *testing.T, root string) (cases []vectorCase) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var family struct {
			Family string `json:"family"`
		}
		if json.Unmarshal(data, &family) != nil || family.Family != vectorFamily {
			return nil //nolint:nilerr // a file of something else
		}
		var file vectorFile
		if err := json.Unmarshal(data, &file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		cases = append(cases, file.Cases...)
		return nil
	}))
	return cases
}

// check runs the case, checks that the result is what the specification says, and returns the
// rules by which that isn't what was recorded.
func (c *vectorCase) check(t *testing.T) (rules []string) {
	t.Helper()
	// In a bubble time is ours: visits take a little less than a poll, so that a predicate is
	// asked as often as by a loop that looks at everything once per poll.
	synctest.Test(t, func(t *testing.T) {
		run := newVectorRun(t, c.Input)
		err := cmp.Or(run.build(), run.invalid())
		switch {
		case c.Error != nil && err != nil:
			requireSameError(t, *c.Error, err)
			return
		case c.Error != nil && c.Input.Kind == "runner":
			// What was recorded is an error of the run itself, where Go has none.
			rules = run.check(c)
			return
		}
		require.NoError(t, err)
		require.NotNil(t, c.Output, "an error was recorded, or nothing: %+v", c.Error)
		switch c.Input.Kind {
		case "topology":
			require.Equal(t, c.Output.Topology, run.graph.Topology())
			require.Equal(t, c.Output.Repr, run.graph.String())
		case "runner":
			rules = run.check(c)
		default:
			t.Fatalf("kind %q is unknown", c.Input.Kind)
		}
	})
	return rules
}

// requireSameError goes by what the recorded message is about, not by its words.
func requireSameError(t *testing.T, recorded vectorError, err error) {
	t.Helper()
	if strings.Contains(strings.ToLower(recorded.Message), "cycl") {
		var cycle *dag.CycleError
		require.ErrorAs(t, err, &cycle)
		return
	}
	var cycle *dag.CycleError
	require.False(t, errors.As(err, &cycle), "recorded: %+v", recorded)
}

// text is the text form of a state as it was recorded, without the exception.
func (o *vectorOutput) text() string {
	lines := strings.SplitN(o.Str, "\n", 5)
	return strings.NewReplacer("[NODES] ", "", "'", "").Replace(strings.Join(lines[:min(4, len(lines))], "\n"))
}

// differences are the parts in which two outputs differ.
func (o *vectorOutput) differences(got *vectorOutput) (parts []string) {
	for part, same := range map[string]bool{
		"sets": slices.Equal(o.Verified, got.Verified) && slices.Equal(o.Unverified, got.Unverified) &&
			slices.Equal(o.Failed, got.Failed) && slices.Equal(o.Unstarted, got.Unstarted) &&
			(o.Str == "" || o.text() == got.Str),
		"ran":         slices.Equal(slices.Sorted(slices.Values(o.Ran)), got.Ran),
		"completion":  o.DeployCompleted == got.DeployCompleted && o.VerifyCompleted == got.VerifyCompleted,
		"is_failed":   o.IsFailed == got.IsFailed,
		"exception":   (o.Exception == nil) == (got.Exception == nil) && (o.Exception == nil || *o.Exception == *got.Exception),
		"text":        o.Repr == got.Repr,
		"run returns": o.RunRaised == nil,
	} {
		if !same {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts
}
