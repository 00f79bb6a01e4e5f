package school;

import coursegate.CoursegateConfiguration;
import coursegate.CoursegateConfiguration.Member;
import coursegate.CoursegateConfiguration.Members;
import coursegate.MemberEvents;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.view.RedirectView;

/** A small Spring Boot site with Spring Security's own login, sessions and CSRF tokens, and coursegate's drop-in on it. */
@SpringBootApplication
@Import(CoursegateConfiguration.class)
@RestController
public class School {
    @Autowired
    private MemberEvents events;

    private static final PasswordEncoder ENCODER = new BCryptPasswordEncoder(4);

    static final class Person implements UserDetails {
        final long id;
        final String username;
        final String name;
        final boolean enabled;
        volatile String hash;

        Person(long id, String username, String password, String name, boolean enabled) {
            this.id = id;
            this.username = username;
            this.name = name;
            this.enabled = enabled;
            this.hash = ENCODER.encode(password);
        }

        @Override
        public Collection<? extends GrantedAuthority> getAuthorities() {
            return List.of();
        }

        @Override
        public String getPassword() {
            return hash;
        }

        @Override
        public String getUsername() {
            return username;
        }

        @Override
        public boolean isEnabled() {
            return enabled;
        }

        Member member() {
            return new Member(Long.toString(id), username + "@example.com", name, hash, this);
        }
    }

    private static final List<Person> PEOPLE = List.of(
            new Person(1, "sam", "correct horse battery", System.getenv("SAM_NAME"), true),
            new Person(2, "olu", "staple for the other", "Olu", true),
            new Person(3, "gone", "left the school long ago", "Gone", false));

    @Bean
    Members members() {
        return new Members() {
            @Override
            public Member byId(String id) {
                // As a query with a number in it would read it.
                try {
                    long number = Long.parseLong(id.trim());
                    return PEOPLE.stream().filter(person -> person.id == number).findFirst().map(Person::member).orElse(null);
                } catch (NumberFormatException none) {
                    return null;
                }
            }

            @Override
            public Member of(Authentication signedIn) {
                return ((Person) signedIn.getPrincipal()).member();
            }
        };
    }

    @Bean
    UserDetailsService people() {
        return username -> PEOPLE.stream().filter(person -> person.username.equals(username)).findFirst()
                .orElseThrow(() -> new UsernameNotFoundException(username));
    }

    @Bean
    PasswordEncoder encoder() {
        return ENCODER;
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
        return http
                .authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ERROR).permitAll()
                        .requestMatchers("/coursegate/**", "/probe", "/method").permitAll()
                        .anyRequest().authenticated())
                .csrf(csrf -> csrf.ignoringRequestMatchers("/method"))
                .formLogin(Customizer.withDefaults())
                .rememberMe(Customizer.withDefaults())
                .build();
    }

    @RequestMapping("/probe")
    Map<String, Object> probe(HttpServletRequest request, Authentication authentication) {
        Map<?, ?> claims = request.getAttribute("coursegate") instanceof Map<?, ?> given ? given : Map.of();
        List<String> seen = new ArrayList<>(Collections.list(request.getHeaderNames()));
        seen.removeIf(name -> !name.toLowerCase().matches(".*(member|client.id).*"));
        for (String name : List.of("X-Member-Id", "X_Member_Id", "X-Client-Id")) {
            if (request.getHeader(name) != null || request.getHeaders(name).hasMoreElements()) {
                seen.add(name);
            }
        }
        boolean somebody = authentication != null && authentication.getPrincipal() instanceof Person;
        Map<String, Object> answer = new TreeMap<>();
        answer.put("member", somebody ? Long.toString(((Person) authentication.getPrincipal()).id) : null);
        answer.put("client", claims.get("client_id"));
        answer.put("scope", claims.containsKey("scope") ? claims.get("scope") : List.of());
        answer.put("seen", seen);
        return answer;
    }

    @RequestMapping("/method")
    Map<String, Object> dispatched(HttpServletRequest request) {
        return Map.of("method", request.getMethod());
    }

    /** Writes into the session, as many a controller does. */
    @GetMapping("/private")
    Map<String, Object> remember(HttpServletRequest request, Authentication authentication) {
        request.getSession().setAttribute("seen", true);
        return probe(request, authentication);
    }

    @GetMapping(path = "/password", produces = "text/html")
    String password(CsrfToken token) {
        return "<form method=\"post\" action=\"\"><input type=\"hidden\" name=\"" + token.getParameterName() + "\" value=\""
                + token.getToken() + "\"><input name=\"password\"></form>";
    }

    @PostMapping("/password")
    RedirectView change(Authentication authentication, @RequestParam("password") String password) {
        Person person = (Person) authentication.getPrincipal();
        person.hash = ENCODER.encode(password);
        events.endConnections(Long.toString(person.id), "password changed");
        return new RedirectView("/probe");
    }

    public static void main(String[] args) {
        SpringApplication.run(School.class, args);
    }
}
