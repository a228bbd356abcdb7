package docs

import (
	"go/ast"
	"go/doc"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// examples returns the names that the examples of a package show. test may be nil.
func (c *checking) examples(s source, test *packages.Package) map[string]bool {
	if test == nil {
		return nil
	}
	u := newUses(s.path(), test)
	bodies := map[string]*ast.FuncDecl{}
	for _, f := range test.Syntax {
		for _, d := range f.Decls {
			if function, is := d.(*ast.FuncDecl); is && function.Recv == nil {
				bodies[function.Name.Name] = function
			}
		}
	}
	for _, example := range doc.Examples(test.Syntax...) {
		name := "Example" + example.Name
		if example.Output == "" && !example.EmptyOutput {
			c.add("%s: %s: it has no line 'Output:' and never runs", s.dir, name)
			continue
		}
		u.names[exampleOf(name)] = true
		u.walk(bodies[name])
	}
	return u.names
}

// inside reports examples in the internal tests of a package: they could use identifiers that importers can't use.
func (c *checking) inside(s source) {
	for _, f := range s.tests {
		if strings.HasSuffix(f.Name.Name, "_test") {
			continue
		}
		for _, example := range doc.Examples(f.File) {
			c.add("%s: Example%s belongs in package %s_test, where it can use only what importers can use", f.name, example.Name, s.name)
		}
	}
}

// uses collects the names of the package at path that an example uses.
type uses struct {
	path string
	test *packages.Package
	// declared are the top-level declarations of the test package, by the object that they declare.
	declared map[types.Object][]ast.Node
	seen     map[ast.Node]bool
	values   map[types.Type]bool // types that were visited
	ours     *regexp.Regexp      // finds types of the package in the text of a type
	names    map[string]bool
}

func newUses(path string, test *packages.Package) *uses {
	u := &uses{path: path, test: test, declared: map[types.Object][]ast.Node{}, seen: map[ast.Node]bool{}, names: map[string]bool{},
		values: map[types.Type]bool{}, ours: regexp.MustCompile(`\b` + regexp.QuoteMeta(path) + `\.(\w+)`)}
	for _, f := range test.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				u.declareFunction(d)
			case *ast.GenDecl:
				u.declareNames(d)
			}
		}
	}
	return u
}

// declareFunction adds a declaration to declared: the key of a function is the function, and the key of a method is the
// type of its receiver.
func (u *uses) declareFunction(d *ast.FuncDecl) {
	object := u.test.TypesInfo.Defs[d.Name]
	if d.Recv != nil {
		object = u.test.Types.Scope().Lookup(receiver(d.Recv.List[0].Type))
	}
	u.declare(object, d)
}

func (u *uses) declareNames(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			u.declare(u.test.TypesInfo.Defs[spec.Name], spec)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				u.declare(u.test.TypesInfo.Defs[name], spec)
			}
		}
	}
}

func (u *uses) declare(object types.Object, node ast.Node) {
	if object != nil { // nil for the blank name
		u.declared[object] = append(u.declared[object], node)
	}
}

// walk adds the names that a node uses, directly or through declarations of the test package.
func (u *uses) walk(node ast.Node) {
	if u.seen[node] {
		return
	}
	u.seen[node] = true
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			u.object(u.test.TypesInfo.Uses[n])
		case *ast.CallExpr:
			u.call(n)
		case *ast.ValueSpec:
			for _, value := range n.Values {
				if n.Type != nil {
					u.given(u.test.TypesInfo.TypeOf(value), u.test.TypesInfo.TypeOf(n.Type))
				}
			}
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && u.test.TypesInfo.Uses[key] != nil {
				u.given(u.test.TypesInfo.TypeOf(n.Value), u.test.TypesInfo.Uses[key].Type())
			}
		}
		if expr, is := n.(ast.Expr); is {
			u.value(u.test.TypesInfo.TypeOf(expr))
		}
		return true
	})
}

// object adds the name of an object that an identifier denotes, and what its declaration in the test package uses.
func (u *uses) object(object types.Object) {
	if object == nil {
		return
	}
	for _, node := range u.declared[object] {
		u.walk(node)
	}
	if t, is := object.(*types.TypeName); is && u.declared[object] != nil {
		u.implements(t.Type())
	}
	if object.Pkg() == nil || object.Pkg().Path() != u.path {
		return
	}
	switch object := object.(type) {
	case *types.Func:
		u.function(object)
	case *types.TypeName:
		u.names[object.Name()] = true
	}
}

// implements adds the interfaces of the package that a type of the test package implements.
func (u *uses) implements(t types.Type) {
	at := slices.IndexFunc(u.test.Types.Imports(), func(p *types.Package) bool { return p.Path() == u.path })
	if at < 0 || types.IsInterface(t) {
		return
	}
	scope := u.test.Types.Imports()[at].Scope()
	for _, name := range scope.Names() {
		wanted, is := scope.Lookup(name).Type().Underlying().(*types.Interface)
		if is && wanted.NumMethods() > 0 && types.Implements(types.NewPointer(t), wanted) {
			u.names[name] = true
		}
	}
}

// function adds a function, or a method and its type.
func (u *uses) function(f *types.Func) {
	f = f.Origin()
	of := f.Signature().Recv()
	if of == nil {
		u.names[f.Name()] = true
		return
	}
	if t := named(of.Type()); t != nil && t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == u.path {
		u.names[t.Obj().Name()], u.names[t.Obj().Name()+"."+f.Name()] = true, true
	}
}

// call adds the types of the arguments of a call.
func (u *uses) call(n *ast.CallExpr) {
	t := u.test.TypesInfo.TypeOf(n.Fun)
	if t == nil {
		return
	}
	if u.test.TypesInfo.Types[n.Fun].IsType() { // a conversion
		u.given(u.test.TypesInfo.TypeOf(n.Args[0]), t)
		return
	}
	signature, is := t.Underlying().(*types.Signature)
	if !is {
		return
	}
	for i, arg := range n.Args {
		parameters := signature.Params()
		if parameters.Len() == 0 {
			return // the call doesn't compile
		}
		to := parameters.At(min(i, parameters.Len()-1)).Type()
		if list, is := to.(*types.Slice); is && signature.Variadic() && i >= parameters.Len()-1 && !n.Ellipsis.IsValid() {
			to = list.Elem()
		}
		u.given(u.test.TypesInfo.TypeOf(arg), to)
	}
}

// given adds what a program uses if it passes a value of one type (from) where another type (to) is expected: the
// expected type and, if that is an interface, the methods by which the passed type implements it.
func (u *uses) given(from, to types.Type) {
	u.value(to)
	if from == nil || to == nil {
		return
	}
	wanted, is := to.Underlying().(*types.Interface)
	if !is || types.IsInterface(from) {
		return
	}
	for method := range wanted.Methods() {
		found, _, _ := types.LookupFieldOrMethod(from, true, method.Pkg(), method.Name())
		u.object(found)
	}
}

// value adds the types of the package that occur in t. The parameters and results of a function type don't count.
func (u *uses) value(t types.Type) {
	if _, is := t.(*types.Signature); is || t == nil || u.values[t] {
		return
	}
	u.values[t] = true
	for _, form := range []types.Type{t, types.Unalias(t)} {
		for _, name := range u.ours.FindAllStringSubmatch(types.TypeString(form, nil), -1) {
			u.names[name[1]] = true
		}
	}
}

// named returns the named type of a receiver, which may be a pointer.
func named(t types.Type) *types.Named {
	if pointer, is := types.Unalias(t).(*types.Pointer); is {
		t = pointer.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}
