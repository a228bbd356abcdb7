package messages

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
)

// message is a message by the section in which its entry stands.
type message struct{ section, name string }

// source is what was found in the code.
type source struct {
	files *token.FileSet
	// found has the place of each message.
	found map[message]string
	// strings are all strings in the code.
	strings map[string]bool
	// wrappers are functions that log one of their parameters, by name, with the index of the parameter.
	wrappers map[string]int
	packages []*pkg
}

func newSource() *source {
	return &source{token.NewFileSet(), map[message]string{}, map[string]bool{}, map[string]int{}, nil}
}

// pkg is one folder.
type pkg struct {
	*source
	root, folder string
	files        []*ast.File
	// constants are the values of the package's constants that are strings.
	constants map[string]string
	// loggers are variables that hold a method such as logger.Warn.
	loggers map[string]bool
}

// table is the folder with the entries themselves.
const table = "operator/internal/messages"

// readModule reads the packages of a module. Files for tests are left out.
func (s *source) readModule(ctx context.Context, r *repository.Repository, m repository.Module) error {
	names, err := m.GoFiles(r.Root)
	if err != nil {
		return err
	}
	folders := map[string]*pkg{}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		short, _ := filepath.Rel(r.Root, name)
		folder := path.Dir(filepath.ToSlash(short))
		if strings.HasSuffix(name, "_test.go") || folder == table || strings.HasPrefix(folder, table+"/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(s.files, filepath.ToSlash(short), text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			continue
		}
		if folders[folder] == nil {
			folders[folder] = &pkg{source: s, root: r.Root, folder: folder, constants: map[string]string{}, loggers: map[string]bool{}}
			s.packages = append(s.packages, folders[folder])
		}
		folders[folder].files = append(folders[folder].files, file)
	}
	for _, p := range folders {
		p.readConstants()
		for _, file := range p.files {
			ast.Inspect(file, p.inspect)
			p.readErrors(file)
			p.readWrappers(file)
		}
	}
	return nil
}

// note records a message, unless it was found before.
func (p *pkg) note(section, name string, at ast.Node) {
	m := message{section, name}
	place := p.source.files.Position(at.Pos())
	if found := place.Filename + ":" + strconv.Itoa(place.Line); p.found[m] == "" || found < p.found[m] {
		p.found[m] = found
	}
}

// word matches a reason.
var word = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)

// reason records a reason, in the section of the folder.
func (p *pkg) reason(values ast.Expr) {
	for _, value := range p.wordsOf(values) {
		section := conditions
		if p.judges() {
			section = readiness
		}
		p.note(section, value, values)
	}
}

// judgingRoom is the folder of package readiness, and begins the folders of the packages below it.
const judgingRoom = "status/readiness"

// judges reports whether the reasons of the package are about readiness.
func (p *pkg) judges() bool {
	return strings.HasPrefix(p.folder, judgingRoom) || p.folder == "reconcile/celready"
}

// wordsOf returns the reasons that an expression may have: a constant, or the constants among the arguments of cmp.Or.
func (p *pkg) wordsOf(e ast.Expr) (all []string) {
	if call, ok := e.(*ast.CallExpr); ok && nameOf(call.Fun) == "Or" {
		for _, argument := range call.Args {
			all = append(all, p.wordsOf(argument)...)
		}
		return all
	}
	if value, ok := p.constant(e); ok && word.MatchString(value) {
		all = append(all, value)
	}
	return all
}

// constant returns the value of a string: a literal, a constant of the package, or a sum of them.
func (p *pkg) constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		value, ok := p.constants[e.Name]
		return value, ok
	case *ast.BinaryExpr:
		left, isLeft := p.constant(e.X)
		right, isRight := p.constant(e.Y)
		return left + right, isLeft && isRight && e.Op == token.ADD
	}
	return "", false
}

// nameOf returns the last part of the name of a function, a type or a field.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	case *ast.IndexExpr:
		return nameOf(e.X)
	}
	return ""
}
