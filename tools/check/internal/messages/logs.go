package messages

import (
	"go/ast"
	"slices"
	"strings"
	"unicode"
)

// logging are methods of loggers, with the index of the message.
var logging = map[string]int{"Warn": 0, "Error": 0, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2}

// logged records the messages of all packages, when all wrappers are known.
func (s *source) logged() {
	for _, p := range s.packages {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					p.logs(call)
				}
				return true
			})
		}
	}
}

// logs records the message of a call. The messages of wrappers have a space, because the name of a wrapper may be that
// of other functions, too.
func (p *pkg) logs(call *ast.CallExpr) {
	name := nameOf(call.Fun)
	if _, isVariable := call.Fun.(*ast.Ident); passesLog(call.Args) || isVariable && p.loggers[name] {
		for _, argument := range call.Args {
			if text, ok := p.constant(argument); ok && strings.Contains(text, " ") {
				p.note(lines, text, call)
				break
			}
		}
		return
	}
	at, direct := logging[name]
	if !direct {
		var wraps bool
		if at, wraps = p.wrappers[name]; !wraps {
			return
		}
	}
	if _, isMethod := call.Fun.(*ast.SelectorExpr); direct && !isMethod || len(call.Args) <= at {
		return
	}
	if text, ok := p.constant(call.Args[at]); ok && text != "" && (direct || strings.Contains(text, " ")) {
		p.note(lines, text, call)
	}
}

// passesLog reports whether an argument is a method such as logger.Warn, as a value.
func passesLog(arguments []ast.Expr) bool { return slices.ContainsFunc(arguments, isLog) }

// isLog reports whether an expression is a method of something that is called a log or a logger.
func isLog(e ast.Expr) bool {
	method, ok := e.(*ast.SelectorExpr)
	return ok && (method.Sel.Name == "Warn" || method.Sel.Name == "Error") && strings.Contains(strings.ToLower(nameOf(method.X)), "log")
}

// readWrappers records the functions that log one of their parameters, and variables such as log := logger.Warn.
func (p *pkg) readWrappers(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.readWrapper(n.Name.Name, n.Type, n.Body)
		case *ast.KeyValueExpr:
			if function, ok := n.Value.(*ast.FuncLit); ok {
				p.readWrapper(nameOf(n.Key), function.Type, function.Body)
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && isLog(n.Rhs[0]) {
				p.loggers[nameOf(n.Lhs[0])] = true
			}
		}
		return true
	})
}

func (p *pkg) readWrapper(name string, function *ast.FuncType, body *ast.BlockStmt) {
	if body == nil {
		return
	}
	places, at := map[string]int{}, 0
	for _, field := range function.Params.List {
		for _, parameter := range field.Names {
			if nameOf(field.Type) == "string" {
				places[parameter.Name] = at
			}
			at++
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, argument := range messageOf(call) {
			if parameter, passed := places[nameOf(argument)]; passed && isIdent(argument) {
				p.wrappers[name] = parameter
			}
		}
		return true
	})
}

// messageOf returns the arguments of a call that may be the message of a line in the log.
func messageOf(call *ast.CallExpr) []ast.Expr {
	if passesLog(call.Args) {
		return call.Args
	}
	place, logs := logging[nameOf(call.Fun)]
	if _, isMethod := call.Fun.(*ast.SelectorExpr); !logs || !isMethod || len(call.Args) <= place {
		return nil
	}
	return call.Args[place : place+1]
}

func isIdent(e ast.Expr) bool {
	_, is := e.(*ast.Ident)
	return is
}

// readErrors records the exported errors of a package that others can import.
func (p *pkg) readErrors(file *ast.File) {
	if file.Name.Name == "main" || strings.Contains("/"+p.folder+"/", "/internal/") {
		return
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || decl.Name.Name != "Error" || len(decl.Type.Params.List) > 0 {
				continue
			}
			if name := nameOf(decl.Recv.List[0].Type); ast.IsExported(name) {
				p.note(typed, file.Name.Name+"."+name, decl)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				p.readVariables(file.Name.Name, spec)
			}
		}
	}
}

func (p *pkg) readVariables(in string, spec ast.Spec) {
	value, ok := spec.(*ast.ValueSpec)
	if !ok {
		return
	}
	for _, name := range value.Names {
		if rest, is := strings.CutPrefix(name.Name, "Err"); is && rest != "" && unicode.IsUpper(rune(rest[0])) {
			p.note(typed, in+"."+name.Name, name)
		}
	}
}
