package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/template"
	"text/template/parse"
)

// use is the purpose of a file.
type use int

const (
	forData use = iota
	forObjects
	forDefines
)

type source struct {
	path, text string
	use        use
}

// readError is an error of the file system.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

// passes reports whether a retry may succeed: false if the files themselves are wrong, such as a broken link.
func (e *readError) passes() bool {
	lasting := []error{fs.ErrNotExist, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL}
	return !slices.ContainsFunc(lasting, func(cause error) bool { return errors.Is(e, cause) })
}

// dataFolder is the name of folders that hold no templates.
const dataFolder = "files"

// load reads all files below folder, by path.
func load(files fs.FS, folder string) ([]source, error) {
	var sources []source
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &readError{err}
		case name != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		use, err := useOf(name, folder)
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return &readError{err}
		}
		sources = append(sources, source{name, string(text), use})
		return nil
	})
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	for i := range sources {
		if sources[i].use != forData {
			sources[i].text = strings.TrimPrefix(sources[i].text, "\ufeff")
		}
	}
	return sources, err
}

func useOf(name, folder string) (use, error) {
	below := strings.TrimPrefix(path.Dir(name), folder)
	if slices.Contains(strings.Split(below, "/"), dataFolder) {
		return forData, nil
	}
	switch extension := path.Ext(name); extension {
	case ".yaml", ".yml":
		return forObjects, nil
	case ".tpl":
		return forDefines, nil
	case ".tmpl", ".gotmpl", ".template", ".j2":
		return forData, fmt.Errorf("%s: not a template: rename it so that it ends in .yaml, or in .tpl for defines, or put it into a folder %s", name, dataFolder)
	}
	return forData, nil
}

// parse parses the files into one set, and reports mistakes that package template would report only during rendering.
func (t *Templates) parse(sources []source) error {
	var errs []error
	t.all = template.New("").Delims(t.options.left, t.options.right).Option("missingkey=error").Funcs(t.functions(nil))
	defined := map[string]string{}
	for _, source := range sources {
		if source.use == forData {
			continue
		}
		trees, err := t.parseFile(source)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, tree := range trees {
			if other := defined[tree.Name]; other != "" {
				errs = append(errs, &Error{File: source.path, Line: lineAt(source.text, tree.Root.Pos), Err: fmt.Errorf("template %q is defined twice: also in %s", tree.Name, other)})
				continue
			}
			defined[tree.Name] = source.path
			t.places.note(source, tree.Root)
			if _, err := t.all.AddParseTree(tree.Name, tree); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", source.path, err))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return t.link(sources)
}

// parseFile returns the trees of a file: one for the file itself, and one for each of its defines.
func (t *Templates) parseFile(s source) ([]*parse.Tree, error) {
	file, err := template.New(s.path).Delims(t.options.left, t.options.right).Funcs(t.functions(nil)).Parse(s.text)
	if err != nil {
		return nil, parseError(s.path, err)
	}
	var trees []*parse.Tree
	for _, found := range file.Templates() {
		if found.Tree != nil && (found.Name() != s.path || s.use == forObjects) {
			trees = append(trees, found.Tree)
		}
	}
	slices.SortFunc(trees, func(a, b *parse.Tree) int { return int(a.Root.Pos) - int(b.Root.Pos) })
	return trees, nil
}

// mutators are the functions that change an argument.
var mutators = []string{"set", "unset", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"}

// link checks the calls between templates, and finds templates that may render a Secret or change values.
func (t *Templates) link(sources []source) error {
	texts := map[string]string{}
	for _, source := range sources {
		texts[source.path] = source.text
	}
	var errs []error
	calls := map[string][]string{}
	t.secretive = map[string]bool{}
	for _, tmpl := range t.all.Templates() {
		tree := tmpl.Tree
		t.secretive[tmpl.Name()] = speaksOfSecrets(tree.Root.String())
		visit(tree.Root, func(node parse.Node) {
			called, dynamic := callOf(node)
			switch {
			case dynamic:
				t.secretive[tmpl.Name()] = true
			case called != "" && t.all.Lookup(called) == nil:
				errs = append(errs, &Error{File: tree.ParseName, Line: lineAt(texts[tree.ParseName], node.Position()), Err: fmt.Errorf("template %q isn't defined", called)})
			case called != "":
				calls[tmpl.Name()] = append(calls[tmpl.Name()], called)
			}
			if name, ok := node.(*parse.IdentifierNode); ok && slices.Contains(mutators, name.Ident) {
				t.mutate = true
			}
		})
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	spread(t.secretive, calls)
	return errors.Join(errs...)
}

// spread marks all templates that call a marked template, directly or indirectly.
func spread(marked map[string]bool, calls map[string][]string) {
	for changed := true; changed; {
		changed = false
		for caller, called := range calls {
			if !marked[caller] && slices.ContainsFunc(called, func(name string) bool { return marked[name] }) {
				marked[caller], changed = true, true
			}
		}
	}
}

// callOf returns the template that a node calls. dynamic: the name depends on values.
func callOf(node parse.Node) (name string, dynamic bool) {
	switch n := node.(type) {
	case *parse.TemplateNode:
		return n.Name, false
	case *parse.CommandNode:
		if function, ok := n.Args[0].(*parse.IdentifierNode); !ok || function.Ident != "include" {
			return "", false
		}
		if len(n.Args) < 2 {
			return "", true
		}
		literal, ok := n.Args[1].(*parse.StringNode)
		if !ok {
			return "", true
		}
		return literal.Text, false
	}
	return "", false
}

// visit calls see for node and all its descendants.
func visit(node parse.Node, see func(parse.Node)) {
	branch := func(n *parse.BranchNode) {
		visit(n.Pipe, see)
		visit(n.List, see)
		if n.ElseList != nil {
			visit(n.ElseList, see)
		}
	}
	see(node)
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			visit(child, see)
		}
	case *parse.ActionNode:
		visit(n.Pipe, see)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			visit(n.Pipe, see)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			visit(command, see)
		}
	case *parse.CommandNode:
		for _, argument := range n.Args {
			visit(argument, see)
		}
	case *parse.ChainNode:
		visit(n.Node, see)
	}
}

var (
	secretWord = regexp.MustCompile(`\bSecret(List)?\b`)
	// computedKind matches a kind that depends on values. It matches in the text of a parsed tree, which always has the
	// default delimiters.
	computedKind = regexp.MustCompile(`kind["']?\s*:\s*["']?\{\{`)
)

// speaksOfSecrets reports whether a piece of a template may be part of a Secret.
func speaksOfSecrets(text string) bool {
	return secretWord.MatchString(text) || computedKind.MatchString(text)
}

func lineAt(text string, position parse.Pos) int {
	return 1 + strings.Count(text[:min(int(position), len(text))], "\n")
}
