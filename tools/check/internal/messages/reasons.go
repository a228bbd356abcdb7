package messages

import (
	"go/ast"
	"go/token"
	"strings"
)

// readConstants records the constants of the package that are strings, and those that are reasons.
func (p *pkg) readConstants() {
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) {
					break
				}
				if value, ok := p.constant(spec.Values[i]); ok {
					p.constants[name.Name] = value
				}
			}
			return true
		})
	}
}

// inspect looks for messages in one node.
func (p *pkg) inspect(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		p.declared(n)
	case *ast.CompositeLit:
		p.composed(n)
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && field.Sel.Name == "Reason" && len(n.Rhs) == len(n.Lhs) {
				p.reason(n.Rhs[i])
			}
		}
	case *ast.CallExpr:
		p.called(n)
	case *ast.SwitchStmt:
		p.switched(n)
	case *ast.BinaryExpr:
		if value, ok := p.constant(n); ok {
			p.source.strings[value] = true
		}
		if n.Op == token.EQL && nameOf(n.X) == "reason" && p.judges() {
			p.reason(n.Y)
		}
	case *ast.BasicLit:
		if value, ok := p.constant(n); ok {
			p.source.strings[value] = true
		}
	}
	return true
}

// declared records the constants that are reasons of conditions, of readiness or of events.
func (p *pkg) declared(decl *ast.GenDecl) {
	if decl.Tok != token.CONST {
		return
	}
	for _, spec := range decl.Specs {
		spec, _ := spec.(*ast.ValueSpec)
		for i, name := range spec.Names {
			if i >= len(spec.Values) {
				continue
			}
			value, ok := p.constant(spec.Values[i])
			switch {
			case !ok || !word.MatchString(value):
			case strings.HasPrefix(name.Name, "Event"):
				p.note(events, value, name)
			case strings.Contains(strings.ToLower(name.Name), "reason"), spec.Type != nil && strings.HasSuffix(nameOf(spec.Type), "Reason"):
				p.reason(spec.Values[i])
			}
		}
	}
}

// switched records the reasons that package readiness distinguishes: they are those of the object's own conditions.
func (p *pkg) switched(statement *ast.SwitchStmt) {
	if statement.Tag == nil || nameOf(statement.Tag) != "reason" || !p.judges() {
		return
	}
	for _, clause := range statement.Body.List {
		if clause, ok := clause.(*ast.CaseClause); ok {
			for _, value := range clause.List {
				p.reason(value)
			}
		}
	}
}

// composed records the reason in a literal of a struct.
func (p *pkg) composed(literal *ast.CompositeLit) {
	if list, ok := literal.Type.(*ast.ArrayType); ok && p.judges() {
		p.listed(list, literal.Elts)
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok || nameOf(pair.Key) != "Reason" {
			continue
		}
		if nameOf(literal.Type) != "Event" {
			p.reason(pair.Value)
			continue
		}
		for _, value := range p.wordsOf(pair.Value) {
			p.note(events, value, pair)
		}
	}
}

// listed records the reasons in a list: of checks of type atLeast, or of conditions whose types are used as reasons.
func (p *pkg) listed(list *ast.ArrayType, elements []ast.Expr) {
	at := -1
	if nameOf(list.Elt) == "atLeast" {
		at = 2
	} else if row, ok := list.Elt.(*ast.StructType); ok && len(row.Fields.List) > 0 && nameOf(row.Fields.List[0].Names[0]) == "condition" {
		at = 0
	}
	for _, element := range elements {
		if inner, ok := element.(*ast.CompositeLit); ok && at >= 0 && len(inner.Elts) > at {
			p.reason(inner.Elts[at])
		}
	}
}

// judging are the functions of the packages readiness and known that get a reason, with the index of its parameter.
var judging = map[string]int{"ready": 0, "remark": 0, "inProgress": 0, "failed": 0, "unknown": 0, "waits": 2, "unmet": 2}

// called records the reason in a call.
func (p *pkg) called(call *ast.CallExpr) {
	name := nameOf(call.Fun)
	if at, judges := judging[name]; judges && strings.HasPrefix(p.folder, judgingRoom) && len(call.Args) > at {
		p.reason(call.Args[at])
	}
	if name == "Event" && len(call.Args) > 2 {
		for _, value := range p.wordsOf(call.Args[1]) {
			p.note(events, value, call)
		}
	}
}
