package storetest

import (
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func tokenScenarios() []scenario {
	return []scenario{
		{"CreateToken/what is kept comes back as it is", tokenKept},
		{"CreateToken/of many with one id one is kept", tokenTaken},
		{"FindTokens/an expired token is found, an unknown id is not", tokenFound},
		{"FindTokens/many at once, each once, whatever ids are between them", tokensFound},
		{"ListTokens/pages by id miss nothing and repeat nothing", tokenPages},
		{"RevokeToken/it is gone at once, for every handle, and once only", tokenRevoked},
	}
}

// newToken is a token fit to be kept.
func (s *stage) newToken(role core.Role, tenant string) core.Token {
	s.Helper()
	_, id, hash, err := core.NewToken(rand.Reader)
	s.must(err)
	return core.Token{ID: id, Name: "n", Hash: hash, Role: role, Tenant: tenant}
}

func (s *stage) createToken(t core.Token) core.Token {
	s.Helper()
	kept, err := s.store.CreateToken(s.ctx, t)
	s.must(err)
	return kept
}

// findToken looks for one token.
func (s *stage) findToken(id string) (core.Token, error) {
	s.Helper()
	tokens, err := s.store.FindTokens(s.ctx, []string{id})
	switch {
	case err != nil:
		return core.Token{}, err
	case len(tokens) == 0:
		return core.Token{}, core.ErrNotFound
	case len(tokens) > 1:
		s.Errorf("%d tokens of one id", len(tokens))
	}
	return tokens[0], nil
}

func tokenKept(s *stage) {
	before := s.now()
	for _, t := range []core.Token{
		s.newToken(core.RoleAdmin, ""), s.newToken(core.RoleSubmit, "Müller & Söhne"), s.newToken(core.RoleRead, "'; DROP TABLE tokens; --"),
	} {
		t.Name = strings.Repeat("ü", core.MaxTokenNameBytes/2)
		if t.Role == core.RoleRead {
			t.ExpiresAt = before.Add(time.Hour)
			t.Hash = [32]byte{} // zeros are bytes like others
		}
		kept := s.createToken(t)
		if kept.CreatedAt.Before(before.Truncate(time.Microsecond)) || kept.CreatedAt.After(s.now()) {
			s.Errorf("created at %s", kept.CreatedAt)
		}
		t.CreatedAt = kept.CreatedAt
		found, err := s.second().findToken(t.ID)
		s.must(err)
		if !reflect.DeepEqual(kept, t) || !reflect.DeepEqual(found, t) {
			s.Errorf("kept\n%+v, found\n%+v, want\n%+v", kept, found, t)
		}
	}
}

func tokenTaken(s *stage) {
	token := s.newToken(core.RoleRead, "")
	var kept atomic.Int32
	s.times(8, func(i int) error {
		mine := token
		mine.Hash[0] = byte(i)
		_, err := s.store.CreateToken(s.ctx, mine)
		if err == nil {
			kept.Add(1)
		} else if errors.Is(err, core.ErrConflict) {
			err = nil
		}
		return err
	})
	if kept.Load() != 1 {
		s.Errorf("%d of 8 were kept", kept.Load())
	}
}

func tokenFound(s *stage) {
	token := s.newToken(core.RoleSubmit, "a")
	token.ExpiresAt = s.now().Add(time.Minute)
	s.createToken(token)
	s.advance(time.Hour)
	if found, err := s.findToken(token.ID); err != nil || found.ID != token.ID || !found.Expired(s.now()) {
		s.Errorf("expired: %+v, %v", found, err)
	}
	for _, id := range []string{"", "nobody", token.ID[1:], strings.ToUpper(token.ID) + "x", "%", token.ID + "'"} {
		if found, err := s.findToken(id); !errors.Is(err, core.ErrNotFound) || found.ID != "" {
			s.Errorf("%q: %+v, %v", id, found, err)
		}
	}
}

func tokensFound(s *stage) {
	want := map[string]core.Token{}
	ids := []string{"", "nobody", "%", "'; DROP TABLE tokens; --"}
	for i := range 300 {
		token := s.createToken(s.newToken(core.RoleRead, strconv.Itoa(i)))
		if i%3 > 0 {
			want[token.ID] = token
			ids = append(ids, token.ID, "x"+token.ID[1:], token.ID)
		}
	}
	tokens, err := s.second().store.FindTokens(s.ctx, ids)
	s.must(err)
	for _, t := range tokens {
		if !reflect.DeepEqual(t, want[t.ID]) {
			s.Errorf("found\n%+v, want, once,\n%+v", t, want[t.ID])
		}
		delete(want, t.ID)
	}
	if len(want) > 0 {
		s.Errorf("%d are not found", len(want))
	}
	if tokens, err := s.store.FindTokens(s.ctx, nil); err != nil || len(tokens) != 0 {
		s.Errorf("of no ids: %v, %v", tokens, err)
	}
}

func tokenPages(s *stage) {
	if tokens, err := s.store.ListTokens(s.ctx, "", 10); err != nil || len(tokens) != 0 {
		s.Errorf("an empty store has %d tokens, %v", len(tokens), err)
	}
	var want []string
	for range 23 {
		want = append(want, s.createToken(s.newToken(core.RoleRead, "")).ID)
	}
	slices.Sort(want)
	var got []string
	for after := ""; ; {
		page, err := s.store.ListTokens(s.ctx, after, 5)
		s.must(err)
		for _, t := range page {
			got = append(got, t.ID)
		}
		if len(page) < 5 {
			break
		}
		after = page[4].ID
	}
	if !slices.Equal(got, want) {
		s.Errorf("pages have\n%v, want\n%v", got, want)
	}
}

func tokenRevoked(s *stage) {
	gone, stays := s.createToken(s.newToken(core.RoleAdmin, "")), s.createToken(s.newToken(core.RoleRead, ""))
	var revoked atomic.Int32
	s.times(8, func(int) error {
		err := s.store.RevokeToken(s.ctx, gone.ID)
		if err == nil {
			revoked.Add(1)
		} else if errors.Is(err, core.ErrNotFound) {
			err = nil
		}
		return err
	})
	if revoked.Load() != 1 {
		s.Errorf("%d of 8 revoked it", revoked.Load())
	}
	other := s.second()
	if _, err := other.findToken(gone.ID); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("a revoked token is found: %v", err)
	}
	if _, err := other.findToken(stays.ID); err != nil {
		s.Errorf("the other token: %v", err)
	}
	if err := other.store.RevokeToken(s.ctx, "nobody"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("an unknown id: %v", err)
	}
}
