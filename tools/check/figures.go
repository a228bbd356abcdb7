package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// figuresHelp describes the columns of figures.
const figuresHelp = `
Counted are Go files without tests, zz_* and testdata; nested modules count with their parent.
lines      without blank lines and lines with only a comment
exported   package-level names of packages that other modules can import
options    functions in these packages that return a type named ...Option
fields     exported fields of the structs in these packages that are named ...Options, ...Settings or ...Config
file, func lines of a file and of a function, with comments: median/90th percentile
`

// figures are the sizes of one part of the repository.
type figures struct {
	lines, exported, options, fields int
	packages                         map[string]bool
	files, functions                 []int
}

func prepareFigures(flags *flag.FlagSet) func(context.Context, environment) error {
	root := flags.String("repo", "", "a checkout of the repository, of any commit (default: this checkout)")
	return func(_ context.Context, env environment) error {
		if *root == "" {
			*root = env.repository.Root
		}
		product := []string{"dag", "smp", "status", "vcs", "deploy", "reconcile", "operator"}
		table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		_, _ = fmt.Fprintln(table, "part\tfiles\tlines\tpackages\texported\toptions\tfields\tfile\tfunc\t")
		for _, name := range product {
			if err := row(table, *root, name, name); err != nil {
				return err
			}
		}
		err := errors.Join(
			row(table, *root, "all of these", product...), row(table, *root, "tools", "tools"),
			row(table, *root, "check, release", "tools/check", "tools/release"), table.Flush(),
		)
		_, _ = fmt.Fprint(env.stdout, figuresHelp)
		return err
	}
}

// row prints the figures of the files below folders.
func row(table *tabwriter.Writer, root, name string, folders ...string) error {
	f := figures{packages: map[string]bool{}}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch base := entry.Name(); {
			case entry.IsDir() && (base == "testdata" || base[0] == '.' || folder == "tools" && (base == "peers" || base == "bench")):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_"):
				return nil
			}
			return f.add(path)
		})
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n",
		name, len(f.files), f.lines, len(f.packages), f.exported, f.options, f.fields, spread(f.files), spread(f.functions))
	return err
}

// spread returns the median and the 90th percentile.
func spread(sizes []int) string {
	if len(sizes) == 0 {
		return "-"
	}
	slices.Sort(sizes)
	return fmt.Sprintf("%d/%d", sizes[len(sizes)/2], sizes[len(sizes)*9/10])
}

// Regular expressions can count declarations, because gofmt fixes their form.
var (
	function = regexp.MustCompile(`(?ms)^func .*?\n`)
	exported = regexp.MustCompile(`(?m)^(?:func|type|const|var) [A-Z]`)
	group    = regexp.MustCompile(`(?ms)^(?:type|const|var) \(\n(.*?)^\)`)
	option   = regexp.MustCompile(`(?m)^func [A-Z]\w*(?:\[.*?\])?\(.*\) (?:\w+\.)?\w*Option(?:\[.*\])? {`)
	settings = regexp.MustCompile(`(?ms)^type (?:[A-Z]\w*)?(?:Options|Settings|Config) struct {\n(.*?)^}`)
	names    = regexp.MustCompile(`(?m)^\t[A-Z]\w*(?:, [A-Z]\w*)*`)
)

func (f *figures) add(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			f.lines++
		}
	}
	f.files = append(f.files, bytes.Count(text, []byte("\n")))
	f.packages[filepath.Dir(path)] = true
	for _, at := range function.FindAllIndex(text, -1) {
		size := 1
		if bytes.HasSuffix(text[:at[1]-1], []byte("{")) || !bytes.HasSuffix(text[:at[1]-1], []byte("}")) {
			size += bytes.Count(text[at[0]:at[1]+bytes.Index(text[at[1]:], []byte("\n}"))+1], []byte("\n"))
		}
		f.functions = append(f.functions, size)
	}
	if bytes.Contains(text, []byte("\npackage main\n")) || slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "internal") {
		return nil
	}
	listed := func(blocks *regexp.Regexp) (count int) {
		for _, block := range blocks.FindAllSubmatch(text, -1) {
			for _, line := range names.FindAll(block[1], -1) {
				count += 1 + bytes.Count(line, []byte(","))
			}
		}
		return count
	}
	f.exported += len(exported.FindAll(text, -1)) + listed(group)
	f.options += len(option.FindAll(text, -1))
	f.fields += listed(settings)
	return nil
}
